/** Draws a chat: finished entries scroll up; below them are the current activity and the user's draft. */
import {
	Box,
	type DOMElement,
	measureElement,
	Static,
	Text,
	useAnimation,
	useInput,
	usePaste,
	useWindowSize,
} from "ink";
import {
	createElement,
	type ReactNode,
	useEffect,
	useMemo,
	useRef,
	useState,
	useSyncExternalStore,
} from "react";
import { planLines } from "../render/index.ts";
import { fitted, printable, wrapped } from "../terminal/index.ts";
import type { Block } from "./block-stream.ts";
import type { ChatEntry, Live, Snapshot, Transcript } from "./chat-transcript.ts";
import type { Composed, Composer } from "./composer.ts";
import { entryText } from "./entry-text.ts";
import { piecesOfLine } from "./highlight.ts";
import { actionsOf } from "./keys.ts";
import { renderMarkdown } from "./markdown.ts";
import { menuLines } from "./menu-lines.ts";
import { type ColourDepth, codeText, makePaint, type Paint } from "./paint.ts";
import { usePast } from "./past-entries.ts";
import { rowsOf, type Viewer, viewLines } from "./viewer.ts";
import { writtenRows } from "./written-rows.ts";

/** Milliseconds between two redraws of streamed text. */
const FRAME_MS = 33;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** Maximum number of running calls shown, and lines of the output of each. */
const MOST_CALLS = 5;
const OUTPUT_ROWS = 3;
/** Maximum number of rows of the draft shown. */
const WRITTEN_ROWS = 8;
/** Maximum number of steps of a plan shown at once. */
const PLAN_ROWS = 6;
/** Maximum number of choices of a menu shown at once. */
const MENU_ROWS = 8;
/** Below this many columns only the text is shown. */
const NARROW = 40;

/** The parts of the screen. */
export interface ScreenParts {
	readonly transcript: Transcript;
	readonly composer: Composer;
	readonly viewer: Viewer;
	readonly depth: ColourDepth;
	/** Returns what a pasted text becomes. */
	pasted(text: string): string;
}

/** The whole screen. */
export function Screen({ transcript, composer, viewer, depth, pasted }: ScreenParts): ReactNode {
	const snapshot = useThrottled(transcript);
	const { live } = snapshot;
	const paint = useMemo(() => makePaint(live.theme, depth), [live.theme, depth]);
	const { columns, rows } = useWindowSize();
	const frame = useRef<DOMElement>(null);
	const { key, items } = usePast(snapshot, { columns, rows, theme: live.theme }, () =>
		frame.current === null ? 0 : measureElement(frame.current).height,
	);
	useInput((input, key) => {
		for (const action of actionsOf(input, key)) if (!viewer.act(action)) composer.act(action);
	});
	usePaste((text) => {
		const action = { type: "insert", text: pasted(text) } as const;
		if (!viewer.act(action)) composer.act(action);
	});
	// Ink draws these once, in order.
	const shown = (entry: ChatEntry): ReactNode =>
		createElement(
			Text,
			{ key: entry.id },
			// An empty text would take no line.
			wrapped(entryText(entry, paint, columns), columns) || " ",
		);
	const given = { key, items } as unknown as Parameters<typeof Static<ChatEntry>>[0];
	// The child is a function, which createElement's types do not allow.
	const past = createElement(Static<ChatEntry>, given, shown as unknown as ReactNode);
	const view = useSyncExternalStore(viewer.subscribe, viewer.snapshot);
	const viewed = useMemo(() => rowsOf(view?.opened.text ?? "", columns), [view?.opened, columns]);
	const composed = useSyncExternalStore(composer.subscribe, composer.snapshot);
	const menuRows = Math.max(3, Math.min(MENU_ROWS, Math.floor(rows / 3)));
	const writtenMost = Math.max(3, Math.min(WRITTEN_ROWS, Math.floor(rows / 2) - 2));
	const room = Math.max(
		2,
		rows - writtenMost - 8 - live.plan.length - (composed.menu === undefined ? 0 : menuRows + 1),
	);
	// Keys pressed while an answer streams must not format its open block again.
	const tail = useMemo(
		() => lastLines(wrapped(tailText(live.tail, paint, columns), columns), room, columns),
		[live.tail, paint, columns, room],
	);
	if (view !== undefined) {
		const lines = viewLines(view, viewed, { paint, columns, height: rows - 2 });
		return createElement(
			Box,
			{ flexDirection: "column", ref: frame },
			past,
			createElement(Text, { wrap: "truncate" }, lines.map((line) => line || " ").join("\n")),
		);
	}
	const plan = planLines(live.plan, Math.max(2, Math.min(PLAN_ROWS, Math.floor(rows / 4))));
	const now = createElement(
		Box,
		{ flexDirection: "column" },
		live.tail === "" ? null : createElement(Text, null, tail),
		...live.queued.map((text, index) =>
			createElement(Text, { key: `queued ${index}` }, paint("quiet", `… ${fitted(text, columns - 4)}`)),
		),
		live.queued.length === 0 || columns < NARROW
			? null
			: createElement(Text, null, paint("quiet", "  ↑ edits the last queued message")),
		live.status === "working" ? createElement(Activity, { live, paint, columns }) : null,
		plan.length === 0
			? null
			: createElement(Text, null, plan.map((line) => paint("quiet", fitted(line, columns - 1))).join("\n")),
		live.question === undefined
			? null
			: createElement(Text, null, paint("warning", wrapped(printable(live.question.text), columns))),
		createElement(Written, { composed, paint, columns, most: writtenMost }),
		composed.menu === undefined
			? null
			: createElement(Text, null, menuLines(composed.menu, { paint, columns, rows: menuRows }).join("\n")),
		columns < NARROW ? null : createElement(Text, null, paint("quiet", fitted(live.footer, columns - 1))),
	);
	return createElement(Box, { flexDirection: "column", ref: frame }, past, now);
}

/** The current activity: running calls, or the working model. */
function Activity({
	live,
	paint,
	columns,
}: {
	readonly live: Live;
	readonly paint: Paint;
	readonly columns: number;
}): ReactNode {
	const { frame } = useAnimation({ interval: 80 });
	const spinner = FRAMES[frame % FRAMES.length] as string;
	const calls = live.calls.slice(0, MOST_CALLS).map(({ text, inner = [], output = "" }) => {
		const title = fitted(text, columns - 3);
		const printed = output.trim() === "" ? [] : output.trimEnd().split("\n");
		const last = [...inner.slice(-OUTPUT_ROWS), ...printed.slice(-OUTPUT_ROWS).map((line) => `  ${line}`)];
		return [title, ...last.map((line) => paint("quiet", fittedIndented(line, columns - 1)))].join("\n");
	});
	if (live.calls.length > calls.length) calls.push(`and ${live.calls.length - calls.length} more`);
	if (calls.length === 0 && live.thought !== "")
		calls.push(
			`thinking ${paint("quiet", fitted(`… ${lastWords(live.thought, columns - 14)}`, columns - 12))}`,
		);
	if (calls.length === 0)
		calls.push(columns < NARROW ? "working" : "working · Esc to interrupt, Enter to send a message");
	return createElement(Text, null, calls.map((text) => `${paint("code", spinner)} ${text}`).join("\n"));
}

/** Cuts a line to the columns, with its indent. */
function fittedIndented(line: string, columns: number): string {
	const indent = /^ */.exec(line)?.[0].slice(0, Math.max(0, columns - 4)) ?? "";
	return indent + fitted(line.trimStart(), columns - indent.length);
}

/** Returns the end of a text, from the beginning of a word. */
function lastWords(text: string, columns: number): string {
	return text.length <= columns ? text : text.slice(-columns).replace(/^\S*\s/, "");
}

/** The draft with a cursor; for a long draft, the rows around the cursor. */
function Written({
	composed: { draft, hint },
	paint,
	columns,
	most,
}: {
	readonly composed: Composed;
	readonly paint: Paint;
	readonly columns: number;
	readonly most: number;
}): ReactNode {
	const { rows, isFromStart, above } = writtenRows(draft.text, draft.cursor, columns - 2, most);
	const marked = rows.map((row, index) => `${isFromStart && index === 0 ? paint("user", ">") : " "} ${row}`);
	return createElement(
		Box,
		{ flexDirection: "column", marginTop: 1 },
		above === "" ? null : createElement(Text, null, paint("quiet", `  ${above}`)),
		createElement(Text, { wrap: "hard" }, marked.join("\n")),
		hint === "" ? null : createElement(Text, null, paint("quiet", fitted(hint, columns - 1))),
	);
}

function tailText(tail: Block, paint: Paint, columns: number): string {
	return typeof tail === "string"
		? renderMarkdown(tail, paint, columns)
		: codeText(paint, piecesOfLine(tail.code, tail.language, tail.before));
}

/** Returns the end of a text, so that the redrawn part is never taller than the screen. */
function lastLines(text: string, most: number, columns: number): string {
	const lines = text.split("\n");
	let height = 0;
	let from = lines.length;
	while (from > 0) {
		height += Math.max(1, Math.ceil((lines[from - 1] as string).length / Math.max(1, columns)));
		if (height > most && from < lines.length) break;
		from--;
	}
	return lines.slice(from).join("\n");
}

/** Subscribes to the transcript at a limited rate; what changes with the draft is drawn with it, in one frame. */
function useThrottled(transcript: Transcript): Snapshot {
	const [snapshot, setSnapshot] = useState(transcript.snapshot);
	useEffect(() => {
		let timer: ReturnType<typeof setTimeout> | undefined;
		let drawn = transcript.live;
		const draw = (): void => {
			clearTimeout(timer);
			timer = undefined;
			drawn = transcript.live;
			setSnapshot(transcript.snapshot());
		};
		const stop = transcript.subscribe(() => {
			const { queued, question } = transcript.live;
			if (queued !== drawn.queued || question !== drawn.question) draw();
			else timer ??= setTimeout(draw, FRAME_MS);
		});
		draw();
		return () => {
			clearTimeout(timer);
			stop();
		};
	}, [transcript]);
	return snapshot;
}
