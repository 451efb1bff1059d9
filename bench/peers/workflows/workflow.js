// Workflow DevKit with its local world, which stores a run in files. Its compiler has built the workflow.

import { cpSync } from "node:fs";
import { createRequire } from "node:module";
import { createLocalWorld } from "@workflow/world-local";
import { getRun, start } from "workflow/api";
import { setWorld } from "workflow/runtime";

export async function open(store, { steps, ran }) {
	globalThis.ran = ran;
	const world = createLocalWorld({ dataDir: store.path });
	setWorld(world);
	const built = new URL(".well-known/workflow/v1/", import.meta.url);
	const require = createRequire(import.meta.url);
	for (const kind of ["flow", "step"]) cpSync(new URL(`${kind}.js`, built), new URL(`${kind}.cjs`, built));
	world.registerHandler("__wkf_workflow_", require(new URL("flow.cjs", built).pathname).POST);
	world.registerHandler("__wkf_step_", require(new URL("step.cjs", built).pathname).POST);
	await world.start?.();
	return {
		run: async () => (await start({ workflowId: "workflow//./workflows/work//work" }, [steps])).returnValue,
		async resume() {
			const { data } = await world.runs.list({ resolveData: "none" });
			return getRun(data[0].runId).returnValue;
		},
		close: () => world.close(),
	};
}
