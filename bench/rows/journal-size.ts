// The disk usage of durable steps: the file compared with the transcript's JSON, and the bytes written in total.
import { readFileSync, rmSync, statSync } from "node:fs";
import { agent } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { effort, type Measurement, mustBe, report } from "../measure.ts";
import { lookTool, steppingModel } from "../stub-model.ts";

/** Returns the bytes that this process has passed to the system for writing. */
function bytesWritten(): number {
	const found = /^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1];
	if (found === undefined) throw new Error("/proc/self/io does not say how much was written.");
	return Number(found);
}

interface Size {
	readonly steps: number;
	/** Bytes of the file after the host is closed. */
	readonly file: number;
	/** Bytes of the file and its write-ahead log while the host is open. */
	readonly open: number;
	/** Bytes of the conversation as JSON. */
	readonly transcript: number;
	/** Bytes written from opening to closing. */
	readonly written: number;
}

async function measure(steps: number): Promise<Size> {
	const path = `size-${steps}.db`;
	const before = bytesWritten();
	const host = sqliteHost(path);
	const looker = agent({ model: steppingModel(steps, "whole"), tools: [lookTool()], host });
	const { outcome, state } = await (await looker.session("customer").send("Look.")).result();
	mustBe("the outcome", outcome, "completed");
	const open = statSync(path).size + statSync(`${path}-wal`).size;
	await looker.close();
	await host.close();
	const written = bytesWritten() - before;
	const transcript = Buffer.byteLength(JSON.stringify(state.messages.map((message) => message.toJSON())));
	const file = statSync(path).size;
	rmSync(path);
	return { steps, file, open, transcript, written };
}

const sizes: Size[] = [];
for (const steps of [200, 800, effort.size(5_000, 2_000)]) sizes.push(await measure(steps));
const [small, middle, large] = sizes as [Size, Size, Size];
const kilobytes = (bytes: number): string => `${Math.round(bytes / 1000).toLocaleString("en")} KB`;
const slope = (from: Size, to: Size, of: (size: Size) => number): number =>
	(of(to) - of(from)) / (to.steps - from.steps);
/** The slope of the later growth relative to the earlier one; 1 is a straight line. */
const bend = (of: (size: Size) => number): number => slope(middle, large, of) / slope(small, middle, of);

const measurements: Measurement[] = sizes.map((size) => ({
	what: `file to transcript after ${size.steps.toLocaleString("en")} steps`,
	unit: "×",
	median: size.file / size.transcript,
	target: { is: "at most", value: 3 },
	note: `file ${kilobytes(size.file)}, while open ${kilobytes(size.open)}, JSON ${kilobytes(size.transcript)}`,
}));
report([
	...measurements,
	...sizes.map(
		(size): Measurement => ({
			what: `bytes written a step over ${size.steps.toLocaleString("en")} steps`,
			unit: "KB",
			median: size.written / size.steps / 1000,
			target: { is: "at most", value: 40 },
		}),
	),
	{
		what: "growth of the file, later steps to earlier ones",
		unit: "×",
		median: bend((size) => size.file),
		target: { is: "at most", value: 1.1 },
	},
	{
		what: "growth of bytes written, later steps to earlier ones",
		unit: "×",
		median: bend((size) => size.written),
		target: { is: "at most", value: 1.3 },
	},
]);
