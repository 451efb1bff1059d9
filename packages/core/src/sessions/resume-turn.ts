// Resumes a run that was found open, with outside settlements, and records that it does; or parks the run (keeps I3,
// I4).
import { type AskedSystem, agentChange, type EngineAgent } from "../engine/index.ts";
import {
	fingerprintWithSystem,
	type Mutable,
	type RunParked,
	type RunResumed,
	type RunState,
	type Watcher,
} from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import { AgentRun } from "./agent-run.ts";
import { replacedResults } from "./replaced-results.ts";
import { systemFacts } from "./run-start.ts";
import { runParked, sessionHeld } from "./session-errors.ts";
import type { Settlement } from "./settlement.ts";
import {
	commitBare,
	commitFirst,
	commitOptions,
	makeRun,
	refusedOf,
	type Turn,
	type TurnSession,
} from "./turn.ts";
import type { TurnBegin } from "./turn-frame.ts";

/** How to resume a run that was found open. */
export interface Resumption {
	/** Whether a parked run continues. */
	readonly parked: "stays" | "released";
	/** Outside settlements. */
	readonly settlement?: Settlement | undefined;
	/** Returns the agent that continues the run. Not called for a parked run. */
	resolve(): MaybePromise<EngineAgent>;
	/** Calls the `system` function of that agent, for a run without a recorded system prompt. */
	instruct(agent: EngineAgent): MaybePromise<AskedSystem | undefined>;
	/** Calls user functions that the opening of the session waits for. */
	whileOpening<T>(hooks: () => Promise<T>): Promise<T>;
}

/**
 * Resumes the open run with outside settlements. Returns undefined if another worker was faster. Rejects with
 * `run_parked` if the run stays parked or is parked now.
 */
export async function resumeTurn(
	session: TurnSession,
	open: RunState,
	{ parked, settlement, resolve, instruct, whileOpening }: Resumption,
): Promise<Turn | undefined> {
	const { lease, agent, records, sessionKey } = session;
	const { maxRestarts, onAgentChange } = agent.restarts;
	const staysParked = parked === "stays";
	if (staysParked && open.parked !== undefined) {
		lease.release();
		throw runParked(sessionKey, open.runId, open.parked);
	}
	if (open.parked !== undefined && (await records?.take(open.runId)) === false) throw sessionHeld(sessionKey);
	if (lease.current === undefined) return undefined;
	const reason = reasonOf(open);
	// Checked before any user code runs, because that may be what crashes.
	if (staysParked && reason === "crash" && open.crashes >= maxRestarts)
		return park(session, open, { reason: "crash", crashes: open.crashes + 1 });
	if (agent.setup !== undefined) await agent.setup.over();
	const engine = await resolve();
	const asked = open.instructed ? undefined : await instruct(engine);
	if (lease.current === undefined) return undefined;
	const recorded = open.instructed && engine.instruct !== undefined ? session.state.system?.hash : undefined;
	const own = fingerprintWithSystem(engine.fingerprint(), recorded);
	const { fingerprint, ...told } = systemFacts(own, asked, session.state);
	const agentChanged = agentChange(open.fingerprint, fingerprint);
	const change = agentChanged === undefined ? {} : { agentChanged };
	if (staysParked && agentChanged !== undefined && onAgentChange === "park")
		return park(session, open, { reason: "agent-changed", crashes: open.crashes, agentChanged });
	// The end of the wait removes its inputs from the inbox itself.
	const drained = new Set(settlement?.drain);
	const notices = session.notices.filter(({ id }) => !drained.has(id));
	// The plugins are set up now, so the policy is complete.
	const current = { ...session, policy: agent.policy, notices };
	const { run, ...made } = makeAgain(current, engine, open, "resumed", settlement?.watcher);
	const attempt = open.attempt + 1;
	const resumed: Mutable<RunResumed> = {
		kind: "run.resumed",
		attempt,
		fingerprint,
		reason,
		...change,
		...told,
	};
	if (asked !== undefined && "error" in asked) run.systemFailed = asked;
	const partial = settlement === undefined ? await lease.cutOff() : undefined;
	if (partial !== undefined) resumed.partial = partial;
	const settled = await replacedResults(run, settlement?.facts ?? [], whileOpening);
	const options = commitOptions(settlement?.drain ?? [], settlement?.dedupeKey);
	const first = await commitFirst(lease, run, [resumed, ...settled], options);
	if (first === "taken") return undefined;
	if (first !== "committed") {
		// Notifies the sender of the answer; the run keeps waiting.
		if (settlement?.afterwards === "continues") {
			lease.drop();
			throw first.refusal;
		}
		if ((await commitBare(lease, run, [], undefined, first.refusal)) === "taken") return undefined;
	}
	if (settlement?.afterwards === "stops") run.stop("interrupt");
	return { run, ...made, isResumed: true, refused: refusedOf(first), steered: [] };
}

/** Records that the run does not resume by itself, and reports it. Returns undefined if another worker was faster. */
async function park(session: TurnSession, open: RunState, why: Omit<RunParked, "kind">): Promise<undefined> {
	const { lease, agent } = session;
	// If the process died repeatedly, user code called here may be the reason.
	const begin = why.reason === "crash" ? "parked" : "resumed";
	const { run } = makeAgain({ ...session, policy: agent.policy }, agent.engine, open, begin);
	const parked: RunParked = { kind: "run.parked", ...why };
	const first = await commitFirst(lease, run, [parked], undefined);
	run.ledger?.close();
	if (first === "taken") return undefined;
	if (first !== "committed") {
		lease.drop();
		throw first.refusal;
	}
	lease.left();
	throw runParked(session.sessionKey, open.runId, parked);
}

function makeAgain(
	session: TurnSession,
	engine: EngineAgent,
	open: RunState,
	begin: TurnBegin,
	watcher?: Watcher,
): Pick<Turn, "run" | "frame" | "handle"> {
	const { inputId, started: origin } = open;
	const handle = new AgentRun(open.runId, session.sessionKey);
	if (watcher !== undefined) handle.observe(watcher);
	return { handle, ...makeRun(session, engine, handle, { inputId, origin, begin }) };
}

/** Returns why an open run is resumed. */
function reasonOf({ parked, status, suspended }: RunState): RunResumed["reason"] {
	if (parked !== undefined) return "released";
	if (status === "waiting") return "answered";
	return suspended ? "suspended" : "crash";
}
