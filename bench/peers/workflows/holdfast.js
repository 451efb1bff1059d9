// Holdfast: `workflow()` on SQLite or Postgres.
import { sqliteHost } from "holdfast/sqlite";
import { workflow } from "holdfast/workflow";

export async function open(store, { steps, ran }) {
	const { postgresHost } = store.url === undefined ? {} : await import("@holdfast/postgres");
	const host =
		store.url === undefined ? sqliteHost(store.path) : postgresHost({ connectionString: store.url });
	const work = workflow({ name: "work", host }, async (flow) => {
		let last = "";
		for (let at = 0; at < steps; at++)
			last = await flow.step("step", () => ran(), { retryPolicy: "idempotent" });
		return last;
	});
	return {
		run: async (id) => (await (await work.session(id).send({})).result()).output,
		async resume(id) {
			work.supervise().catch((error) => {
				if (error.code !== "agent_closed") throw error;
			});
			for await (const { event } of work.session(id).session.follow({ until: "never" }))
				if (event.type === "run_end") return event.output;
			throw new Error("The session was deleted.");
		},
		async close() {
			await work.close();
			await host.close();
		},
	};
}
