// A workflow that uses every operation, begun in one process and continued in another: the same on each host.
import { scriptedModel } from "@holdfast/testing";
import type { Host } from "holdfast";
import { type Workflow, workflow } from "holdfast/workflow";

/** The workflow on a host. Its effects are added to `done`. */
export function everyOperation(host: Host, done: string[]): Workflow<{ readonly round: number }, unknown> {
	const child = workflow({ name: "child", host }, async (flow, { of }: { of: string }) => {
		await flow.sleep(1);
		return (await flow.approve(of)) ? `approved ${of}` : `denied ${of}`;
	});
	const made = workflow(
		{ name: "every", host, workflows: [child] },
		async (flow, { round }: { round: number }): Promise<unknown> => {
			await flow.step("work", () => void done.push(`work ${round}`));
			const said = await flow.model(scriptedModel(["Hello."]), "Greet.");
			await flow.log("greeted", { said });
			await flow.state({ round });
			const spawned = flow.spawn(child, { of: `child ${round}` });
			const go = await flow.event<string>("go", { timeout: "1 hour" });
			if (round === 1) {
				await spawned.cancel();
				return flow.continueAsNew({ round: 2 });
			}
			return { round, said, go, child: await spawned.result() };
		},
	);
	return made as Workflow<{ readonly round: number }, unknown>;
}

/** What the workflow returns, publishes and does, with a worker for each of its rounds. */
export async function outcomeOnTwoHosts(
	first: Host,
	second: Host,
): Promise<{
	readonly result: unknown;
	readonly state: unknown;
	readonly done: readonly (readonly string[])[];
}> {
	const done: [string[], string[]] = [[], []];
	const one = everyOperation(first, done[0]);
	const two = everyOperation(second, done[1]);
	const run = await one.session("s").send({ round: 1 });
	await run.run.result();
	await one.close();
	const session = two.session("s");
	const state = await session.state();
	await session.signal("go", "first");
	await session.signal("go", "second");
	const follower = session.session.follow({ until: "never" });
	void answerAll(session);
	for await (const { event } of follower)
		if (event.type === "run_end") {
			const result = event.output ?? event.error;
			const published = await session.state();
			await two.close();
			return { result, state: [state, published], done };
		}
	throw new Error("the session was deleted");
}

async function answerAll({ session }: ReturnType<Workflow["session"]>): Promise<void> {
	for (let at = 0; at < 1_000; at++) {
		await new Promise((resolve) => setTimeout(resolve, 20));
		try {
			const calls = await session.pending();
			const call = calls.find(({ arguments: given }) => given.name === "child 2");
			if (call === undefined) continue;
			(await session.answer([{ toolCallId: call.toolCallId, approved: true }])).detach();
			return;
		} catch {
			// The run continues at this moment, or the workflow was closed.
		}
	}
}

/** The expected outcome. */
export const everyOutcome = {
	result: { round: 2, said: "Hello.", go: "second", child: "approved child 2" },
	state: [{ round: 1 }, { round: 2 }],
	done: [["work 1"], ["work 2"]],
};
