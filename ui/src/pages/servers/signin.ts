import { query } from "@/api/client";
import { complain } from "@/ui";

/** useSignIn opens the page where people sign in to a server. */
export function useSignIn() {
	const signIn = query.useMutation("post", "/v1/servers/{name}/sign-in");
	const open = async (name: string) => {
		// The window is opened by the click itself, or the browser would block it.
		const window = globalThis.open("", "_blank");
		try {
			const { url } = await signIn.mutateAsync({ params: { path: { name } } });
			if (window) {
				window.opener = null; // the page of others must not lead this one elsewhere
				window.location.href = url;
			} else location.href = url;
		} catch (error) {
			window?.close();
			complain(error);
		}
	};
	return { open, busy: signIn.isPending };
}
