import { faultOnly, node } from "./editor";
import { expect, type Genkan, go, test } from "./genkan";

// The workflows that a template made together.
test.use({ shared: true, config: faultOnly });

const make = (genkan: Genkan, id: string) =>
	genkan.rest("POST", "/v1/workflow-templates", { template: "redact", id, match: { servers: ["fault"] } });

test("shadow is for all workflows of a template, and so is enabling", async ({ signedIn: page, genkan }) => {
	await make(genkan, "kin");
	type List = { workflows: { id: string; mode: string; enabled: boolean }[] };
	const modes = async () =>
		(await genkan.rest<List>("GET", "/v1/workflows")).workflows
			.filter(({ id, enabled }) => id.startsWith("kin") && enabled)
			.map(({ id, mode }) => `${id} ${mode}`);
	await go(page, genkan, "workflows/kin?panel=enable");
	const bar = page.getByRole("region", { name: "Enable" });
	await expect(bar.getByRole("checkbox", { name: /also enable what the same template made/ })).toBeChecked();
	await bar.getByRole("button", { name: "Shadow first" }).click();
	await expect(page.getByText("shadow: v2")).toBeVisible();
	await expect.poll(modes).toEqual(["kin shadow", "kin-prompts shadow", "kin-resources shadow"]);
	await page.getByRole("button", { name: "Enable…" }).click();
	await expect(bar.getByRole("checkbox", { name: /also enable what the same template made/ })).toBeChecked();
	await bar.getByRole("button", { name: "Enable", exact: true }).click();
	await expect.poll(modes).toEqual(["kin enforce", "kin-prompts enforce", "kin-resources enforce"]);
	await expect(bar).toHaveCount(0); // all is done
	await page.goto("about:blank"); // the page reads what it shows again when it is enabled
	for (const id of ["kin", "kin-prompts", "kin-resources"]) await genkan.rest("DELETE", `/v1/workflows/${id}`);
});

test("other settings of the siblings are told, and made alike", async ({ signedIn: page, genkan }) => {
	await make(genkan, "twin");
	type Stored = {
		enabled: boolean;
		definition: { nodes: { id: string; data?: { hook?: { params: { kinds: string[] } } } }[] };
	};
	const kinds = async (id: string) => {
		const { enabled, definition } = await genkan.rest<Stored>("GET", `/v1/workflows/${id}`);
		return `${enabled} ${definition.nodes.find((one) => one.id === "redact")?.data?.hook?.params.kinds.includes("phone")}`;
	};
	const switchPhones = async () => {
		await node(page, "redact").click();
		await page.getByRole("button", { name: "Phone numbers" }).click();
		await expect(page.getByText(/^draft, saved/)).toBeVisible();
	};
	await go(page, genkan, "workflows/twin?panel=enable");
	const bar = page.getByRole("region", { name: "Enable" });
	const alike = bar.getByRole("checkbox", { name: /Make them like this one/ });
	await expect(bar.getByRole("checkbox", { name: /also enable/ })).toBeChecked();
	await expect(alike).toHaveCount(0);
	await switchPhones();
	await expect(bar).toContainText("Other settings at “Redact”: prompts, resources.");
	await expect(alike).toBeChecked();
	await bar.getByRole("button", { name: "Enable", exact: true }).click();
	await expect(page.getByText("2 more of its template are enabled too.")).toBeVisible();
	for (const id of ["twin", "twin-prompts", "twin-resources"]) expect(await kinds(id)).toBe("true false");

	// Those that act already stay as they are, unless that is wanted.
	await switchPhones();
	await page.getByRole("button", { name: "Enable…" }).click();
	await expect(bar).toContainText("It takes the place of v2, which acts on calls now.");
	await expect(alike).not.toBeChecked();
	await bar.getByRole("button", { name: "Show what differs" }).click();
	await expect(page.getByRole("list", { name: "What differs" })).toContainText('"phone"');
	await page.getByRole("button", { name: "Enable…" }).click();
	await alike.check();
	await bar.getByRole("button", { name: "Enable", exact: true }).click();
	await expect(bar).toHaveCount(0); // all is done
	for (const id of ["twin", "twin-prompts", "twin-resources"]) expect(await kinds(id)).toBe("true true");
	await page.goto("about:blank");
	for (const id of ["twin", "twin-prompts", "twin-resources"]) await genkan.rest("DELETE", `/v1/workflows/${id}`);
});
