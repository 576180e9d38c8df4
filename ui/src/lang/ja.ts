import shell from "../shell/ja";
import ui from "../ui/ja";

// Each page keeps its texts beside it, in pages/NAME/ja.ts.
const pages = import.meta.glob<{ default: Record<string, string> }>("../pages/*/ja.ts", { eager: true });

export default Object.assign({}, ui, shell, ...Object.values(pages).map((page) => page.default)) as Record<
	string,
	string
>;
