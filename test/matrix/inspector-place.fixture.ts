// The inspector as a place of the matrix: the calls that its routes show, answered by the server's own.
import type { Asked } from "./features.fixture.ts";
import { overHttp } from "./places.fixture.ts";
import { type Deploy, serve, type Talk } from "./serve.fixture.ts";

interface Call {
	readonly callId: string;
	readonly id?: string;
	readonly input?: unknown;
	readonly arguments?: unknown;
	readonly awaits: Asked["awaits"];
}

interface Made {
	readonly toolCallId: string;
	readonly arguments: unknown;
}

interface Body {
	readonly message?: { readonly toolCalls?: readonly Made[] };
	/** Of calls that wait; or of calls that the code of a workflow made. */
	readonly calls?: readonly (Call & Made)[];
	readonly children?: readonly { readonly calls: readonly Call[] }[];
}

export async function overInspector(deploy: Deploy): Promise<Talk> {
	const served = serve(deploy);
	const talk = overHttp(served);
	const read = async <Answer>(path: string): Promise<Answer> =>
		(await served.fetch(`http://localhost/api/inspect/session/s${path}`)).json() as Promise<Answer>;
	const look = async (): Promise<readonly Asked[]> => {
		const { entries } = await read<{ entries: { kind: string; body: Body }[] }>("/entries");
		const made = new Map(
			entries
				.flatMap(
					({ kind, body }) => (kind === "tools.requested" ? body.calls : body.message?.toolCalls) ?? [],
				)
				.map((call) => [call.toolCallId, call]),
		);
		const last = entries.at(-1);
		const { calls = [], children = [] } = last?.kind === "waiting" ? last.body : {};
		const { background = [] } = await read<{ background?: readonly Call[] }>("");
		return [...calls, ...children.flatMap((child) => child.calls), ...background].map((call): Asked => {
			const { callId, id = callId, awaits } = call;
			return { id, input: call.input ?? call.arguments ?? made.get(callId)?.arguments, awaits };
		});
	};
	return {
		...talk,
		say: (text) => talk.say(text).then(look),
		answer: (answers) => talk.answer(answers).then(look),
	};
}
