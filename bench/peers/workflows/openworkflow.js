// OpenWorkflow: one worker, on SQLite or Postgres, with default settings.
import { OpenWorkflow } from "openworkflow";

export async function open(store, { steps, ran }) {
	const backend =
		store.url === undefined
			? (await import("openworkflow/sqlite")).BackendSqlite.connect(store.path)
			: await (await import("openworkflow/postgres")).BackendPostgres.connect(store.url);
	const client = new OpenWorkflow({ backend });
	const work = client.defineWorkflow({ name: "work" }, async ({ step }) => {
		let last = "";
		for (let at = 0; at < steps; at++) last = await step.run({ name: `step-${at}` }, async () => ran());
		return last;
	});
	const worker = client.newWorker();
	await worker.start();
	return {
		run: async (id) => (await work.run({}, { idempotencyKey: id })).result(),
		// The same key returns the run that exists.
		resume: async (id) => (await work.run({}, { idempotencyKey: id })).result(),
		async close() {
			await worker.stop();
			await backend.stop();
		},
	};
}
