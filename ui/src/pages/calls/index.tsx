export default function Unbuilt() {
	return null;
}
