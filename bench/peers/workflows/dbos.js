// DBOS: a registered workflow with steps, on Postgres, with default settings.
import { DBOS } from "@dbos-inc/dbos-sdk";

export async function open(store, { steps, ran }) {
	DBOS.setConfig({ name: "work", systemDatabaseUrl: store.url, logLevel: "error", runAdminServer: false });
	const work = DBOS.registerWorkflow(
		async () => {
			let last = "";
			for (let at = 0; at < steps; at++) last = await DBOS.runStep(async () => ran(), { name: "step" });
			return last;
		},
		{ name: "work" },
	);
	await DBOS.launch();
	return {
		run: async (id) => (await DBOS.startWorkflow(work, { workflowID: id })()).getResult(),
		// The launch continues the workflows that its process left.
		resume: async (id) => DBOS.retrieveWorkflow(id).getResult(),
		close: () => DBOS.shutdown(),
	};
}
