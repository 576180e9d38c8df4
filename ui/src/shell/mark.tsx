/** Mark is Genkan's sign: a gate with a door. */
export function Mark({ size = 22 }: { size?: number }) {
	return (
		<svg
			viewBox="0 0 24 24"
			width={size}
			height={size}
			fill="none"
			stroke="currentColor"
			strokeWidth={1.8}
			strokeLinecap="round"
			aria-hidden
			className="text-accent"
		>
			<path d="M3 7c6-2.4 12-2.4 18 0M5.5 7v13M18.5 7v13M4 11h16" />
			<path d="M10 20v-5.5h4V20" />
		</svg>
	);
}
