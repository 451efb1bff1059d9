// The diagrams of the guides, by file name in docs/images.
import { arrow, box, line, type Part, picture, text } from "./draw.ts";
import { codeMode, workflowReplay } from "./replay-diagrams.ts";

/** Draws the steps of a run at a crash, from top to bottom: where the process dies, and how the next one continues. */
function crashRow(y: number, [policy, does, why]: readonly [string, string, string]): Part {
	return [
		`<rect x="16" y="${y}" width="328" height="52" rx="7" class="plain"/>`,
		text(26, y + 21, policy, "mono b"),
		text(26, y + 40, why, "small dim"),
		text(334, y + 21, does, "b t-accent", "end"),
	].join("");
}

const engineLoop = picture(
	"The engine loop",
	"decide reads the state and returns an action. act calls the model or the tools. append commits the facts to the journal. evolve folds them into the next state, and watchers receive events.",
	386,
	[
		box(100, 16, 160, 44, ["state", "immutable"]),
		arrow([
			[180, 60],
			[180, 84],
		]),
		box(90, 86, 180, 44, ["decide", "state → next action, pure"], "accent"),
		arrow([
			[180, 130],
			[180, 154],
		]),
		box(90, 156, 180, 44, ["act", "the only step with effects"], "accent"),
		arrow([
			[180, 200],
			[180, 236],
		]),
		text(188, 222, "facts", "small dim"),
		box(90, 238, 180, 44, ["append to the journal", "committed, in order"], "store"),
		arrow([
			[180, 282],
			[180, 306],
		]),
		box(90, 308, 180, 44, ["evolve", "state × fact → state, pure"], "accent"),
		arrow([
			[90, 330],
			[34, 330],
			[34, 38],
			[98, 38],
		]),
		text(42, 206, "next\nstep", "small dim"),
		arrow([
			[270, 168],
			[296, 168],
			[296, 112],
		]),
		text(296, 88, "model,", "small", "middle"),
		text(296, 104, "tools", "small", "middle"),
		arrow([
			[270, 260],
			[296, 260],
			[296, 286],
		]),
		text(312, 302, "watchers", "small", "middle"),
		text(312, 318, "(events)", "small dim", "middle"),
		text(180, 373, "decide may also wait, ask, note or finish.", "small dim", "middle"),
	],
);

const stepRow = (y: number, who: string, what: string, classes = ""): Part =>
	[text(16, y, who, "small dim"), text(112, y, what, `small ${classes}`)].join("");

const commitRow = (y: number, title: string, contents: string): Part =>
	[
		`<rect x="104" y="${y}" width="240" height="54" rx="7" class="store"/>`,
		text(114, y + 21, title, "b"),
		text(114, y + 40, contents, "small dim"),
		text(16, y + 32, "journal", "small b"),
	].join("");

const commits = picture(
	"What is committed when",
	"Start of the run and input are committed first. Each step commits twice: the answer together with the start of its calls, then the results. The end of the run is the last fact. Watchers receive each event after its commit.",
	470,
	[
		stepRow(30, "you", "session.send(input)"),
		commitRow(42, "0  accepted", "the input is durable: send resolves"),
		arrow([
			[224, 96],
			[224, 118],
		]),
		stepRow(134, "model", "streams its answer"),
		commitRow(146, "1  the answer", "with “tool started” for each call"),
		arrow([
			[224, 200],
			[224, 222],
		]),
		text(232, 216, "then emitted", "small dim"),
		stepRow(240, "tools", "run, with their idempotency keys"),
		commitRow(252, "2  the results", "“tool settled”, as they finish"),
		arrow([
			[224, 306],
			[224, 328],
		]),
		text(232, 322, "then emitted", "small dim"),
		stepRow(346, "model", "answers without a call"),
		commitRow(358, "3  answer and end", "“run ended”: the last fact of a run"),
		arrow([
			[104, 279],
			[84, 279],
			[84, 173],
			[102, 173],
		]),
		text(78, 222, "each\nstep", "small dim", "end"),
		text(16, 438, "Two commits a step, at step 5,000 as at step 5.", "small"),
		text(16, 455, "Busy sessions share transactions.", "small dim"),
	],
);

const crash = picture(
	"A crash inside a tool",
	"The journal has tool started and no result when the process dies. The next process reads the tool's retryPolicy. pure runs again. idempotent runs again with the same key. manual-recovery is not run again: reconcile determines the outcome, or the model is told that it is unknown.",
	436,
	[
		box(16, 16, 328, 44, ["“tool started” is committed", "attempt 1, input, idempotency key"], "store"),
		arrow([
			[180, 60],
			[180, 78],
		]),
		box(16, 80, 328, 44, ["the tool runs", "✕  kill -9, no result recorded"], "warn"),
		arrow(
			[
				[180, 124],
				[180, 146],
			],
			"bad",
		),
		box(16, 148, 328, 44, ["the next process reads the journal", "what does the tool’s retryPolicy say?"]),
		arrow([
			[180, 192],
			[180, 212],
		]),
		crashRow(214, ["pure", "runs again", "any number of times is harmless"]),
		crashRow(274, ["idempotent", "runs again, same key", "the receiver recognises the key"]),
		crashRow(334, ["manual-recovery", "is not run again", "reconcile() asks, else “unknown” to the model"]),
		text(180, 408, "A call without “tool started” never began: it starts.", "small dim", "middle"),
		text(180, 424, "A call with a recorded result is never repeated.", "small dim", "middle"),
	],
);

const lane = (x: number, name: string): Part =>
	[box(x - 46, 14, 92, 30, [name]), line(x, 44, x, 436)].join("");

const message = (y: number, from: number, to: number, label: string, kind: "line" | "bad" = "line"): Part =>
	[
		arrow(
			[
				[from, y],
				[to + (to > from ? -2 : 2), y],
			],
			kind,
		),
		text((from + to) / 2, y - 6, label, "small", "middle"),
	].join("");

const http = picture(
	"A request over HTTP that resumes",
	"The client posts an input. The server commits the run to the journal, then streams events with ids. The connection breaks while the run continues. The client reconnects with Last-Event-ID and receives the missing events from the journal, then live ones, until execute_complete.",
	486,
	[
		lane(62, "client"),
		lane(184, "server"),
		lane(300, "journal"),
		message(76, 62, 184, "POST execute"),
		message(106, 184, 300, "commit input"),
		message(140, 184, 62, "id 12.1.0"),
		message(168, 184, 300, "commit step"),
		message(196, 184, 62, "id 12.3.0"),
		`<rect x="14" y="212" width="156" height="30" rx="7" class="warn"/>`,
		text(92, 231, "✕  connection breaks", "small t-warn", "middle"),
		message(256, 184, 300, "run continues"),
		message(290, 62, 184, "Last-Event-ID"),
		text(123, 305, "12.3.0", "small dim", "middle"),
		message(326, 300, 184, "12.4.0 …"),
		message(356, 184, 62, "missed events"),
		message(388, 184, 62, "live events"),
		message(424, 184, 62, "complete"),
		text(180, 460, "Any server on the same store can answer.", "small dim", "middle"),
	],
);

const subAgents = picture(
	"Sub-agents and waits",
	"A call in a sub-agent needs approval. The sub-agent's session waits, its parent's call waits, and the parent lists the call with the path to it. The answer goes to the parent, reaches the sub-agent, and both continue.",
	404,
	[
		box(30, 16, 300, 44, ["you", "session.pending()  ·  session.answer(…)"]),
		arrow([
			[110, 118],
			[110, 62],
		]),
		text(104, 94, "pending, path", "small dim", "end"),
		arrow([
			[250, 60],
			[250, 116],
		]),
		text(258, 94, "answer", "small dim"),
		box(30, 118, 300, 48, ["parent’s session", "waits in delegate_to_cleaner"], "accent"),
		arrow([
			[110, 224],
			[110, 168],
		]),
		text(104, 200, "waits too", "small dim", "end"),
		arrow([
			[250, 166],
			[250, 222],
		]),
		text(258, 200, "routed", "small dim"),
		box(30, 224, 300, 48, ["sub-agent’s session", "erase(a.txt) needs approval"], "accent"),
		arrow([
			[180, 272],
			[180, 306],
		]),
		text(188, 294, "once it is approved", "small dim"),
		box(30, 308, 300, 40, ["erase runs; then both continue"]),
		text(180, 372, "Every wait is a fact in a journal: no process is", "small dim", "middle"),
		text(180, 388, "held, and a restart loses none. Any depth.", "small dim", "middle"),
	],
);

const shape = (y: number, name: string, host: string, note: string, parts: readonly Part[]): Part =>
	[
		text(16, y + 16, name, "b"),
		text(344, y + 16, host, "mono t-accent", "end"),
		...parts,
		text(16, y + 84, note, "small dim"),
		line(16, y + 98, 344, y + 98, false),
	].join("");

const small = (x: number, y: number, w: number, name: string, look?: "store" | "accent"): Part =>
	box(x, y, w, 34, [name], look);

const link = (x1: number, x2: number, y: number): Part =>
	arrow([
		[x1, y],
		[x2 - 2, y],
	]);

const hosts = picture(
	"Hosts and deployment shapes",
	"Four shapes: one process with sessions in memory; several processes of one machine on a SQLite file; servers and workers on many machines on Postgres; a Cloudflare Worker with a Durable Object for each session.",
	480,
	[
		shape(12, "Tests, scripts", "memoryHost()", "Nothing survives the process.", [
			small(16, 42, 200, "process with its sessions", "accent"),
		]),
		shape(122, "One machine", "sqliteHost(file)", "A worker continues what a dead process left.", [
			small(16, 150, 76, "server"),
			small(100, 150, 76, "worker"),
			link(176, 224, 167),
			small(224, 150, 120, "SQLite file", "store"),
		]),
		shape(232, "Many machines", "postgresHost(url)", "Add servers and workers as you need them.", [
			small(16, 260, 76, "servers"),
			small(100, 260, 76, "workers"),
			link(176, 224, 277),
			small(224, 260, 120, "Postgres", "store"),
		]),
		shape(342, "Cloudflare", "@holdfast/cloudflare", "One Durable Object for each session.", [
			small(16, 370, 92, "Worker"),
			link(108, 152, 387),
			small(152, 370, 192, "object and its SQLite", "store"),
		]),
		text(180, 464, "The agent is the same in all four.", "small dim", "middle"),
	],
);

const ordering = picture(
	"The order of requests to a session",
	"Requests enter one queue for each session. While a run is in progress, send waits behind it. steer and edit join the run between two steps. answer continues a run that waits for it. interrupt and stop end the run. kill and delete end it and the queued turns.",
	408,
	[
		text(16, 30, "send  ·  send", "mono"),
		text(344, 30, "turns, in the order of the calls", "small dim", "end"),
		box(16, 42, 328, 34, ["queued turns"], "store"),
		arrow([
			[180, 76],
			[180, 112],
		]),
		text(188, 98, "when the run has ended", "small dim"),
		box(16, 114, 328, 66, ["the run", "step  →  step  →  step  →  end"], "accent"),
		arrow([
			[114, 232],
			[114, 182],
		]),
		box(54, 234, 120, 40, ["steer, edit"]),
		text(122, 210, "between\ntwo steps", "small dim"),
		arrow([
			[222, 232],
			[222, 182],
		]),
		box(186, 234, 120, 40, ["answer"]),
		text(230, 210, "if the run\nwaits for it", "small dim"),
		arrow(
			[
				[34, 308],
				[34, 182],
			],
			"bad",
		),
		box(16, 310, 158, 40, ["interrupt, stop", "end the run"], "warn"),
		arrow(
			[
				[326, 308],
				[326, 182],
			],
			"bad",
		),
		box(186, 310, 158, 40, ["kill, delete", "end everything"], "warn"),
		text(180, 376, "Requests below the run overtake the turns above it.", "small dim", "middle"),
		text(180, 393, "Other sessions run in parallel.", "small dim", "middle"),
	],
);

/** The contents of a terminal: commands and their output. */
export interface Terminal {
	readonly command: string;
	readonly lines: readonly string[];
	/** The line that the shell adds. */
	readonly killed?: string;
}

const terminalLine = (line: string, classes: string): readonly [string, string] => [line, classes];

/** The runs of examples/kill-9, as its test checks them; keys are random, so only their last digits are shown. */
export const killed: readonly Terminal[] = [
	{
		command: "node main.ts --crash",
		lines: [
			"book Lisbon, key ee43.1.0, attempt 1",
			"book Porto, key ee43.2.0, attempt 1",
			"book Braga, key ee43.3.0, attempt 1",
		],
		killed: "Killed",
	},
	{
		command: "node main.ts",
		lines: ["book Braga, key ee43.3.0, attempt 2", "Rooms are booked in Lisbon, Porto, Braga."],
	},
];

function terminalPicture(): string {
	const lines = killed.flatMap(({ command, lines: output, killed: end }) => [
		terminalLine(`$ ${command}`, "mono b t-accent"),
		...output.map((each) => terminalLine(each, "mono")),
		...(end === undefined ? [] : [terminalLine(end, "mono b t-warn")]),
		terminalLine("", ""),
	]);
	return picture(
		"kill -9 in the middle of a run",
		"The first process books Lisbon and Porto and is killed inside the call that books Braga. The second process repeats only that call, with the same key, and finishes the run.",
		46 + lines.length * 19,
		[
			`<circle cx="20" cy="19" r="5" class="warn"/><circle cx="37" cy="19" r="5" class="plain"/><circle cx="54" cy="19" r="5" class="accent"/>`,
			text(180, 23, "examples/kill-9", "small dim", "middle"),
			line(1, 36, 359, 36, false),
			...lines.map(([content, classes], at) => text(16, 60 + at * 19, content, classes)),
		],
		560,
	);
}

/** Every generated image, by file name. */
export const diagrams: ReadonlyMap<string, string> = new Map([
	["engine-loop", engineLoop],
	["commits", commits],
	["crash-in-a-tool", crash],
	["http-resume", http],
	["sub-agents", subAgents],
	["hosts", hosts],
	["ordering", ordering],
	["workflow-replay", workflowReplay],
	["code-mode", codeMode],
	["kill-9", terminalPicture()],
]);
