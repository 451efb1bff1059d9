// How fast text is redacted: text without matches, and texts of a megabyte designed to be slow.
import { createRedactor } from "@holdfast/redaction";
import { effort, type Measurement, median, mustBe, report, spend } from "../measure.ts";

const megabyte = 1_000_000;
const prose = [
	"The quick brown fox jumps over 12 lazy dogs at 10:30 on 2024-01-02, see issue 4512 and version 1.22.3. ",
	'const value = items[3] ?? read("path/to/file"); // 550e8400-e29b-41d4-a716-446655440000\n',
	'{ "id": 17, "name": "thing", "price": 12.5, "tags": ["a", "b"], "at": 1700000000000 }\n',
].join("");

/** Repeated texts: beginnings of matches, and complete matches. */
const units = [
	...[
		"a",
		"@",
		"a@",
		"a@b.",
		"1",
		"1 ",
		"01 ",
		"202 ",
		"(",
		"+1",
		"4111 ",
		"4111111111111112 ",
		"eyJ",
		"eyJ ",
		"sk-",
		"AKIA",
	],
	...[
		"bearer ",
		"password",
		"password:",
		'pwd":"',
		"token: ",
		"-----BEGIN ",
		"-",
		"tel ",
		"\\",
		"%73",
		"[REDACTED",
		"s3cr3t/",
	],
];

function textOf(unit: string, length: number): string {
	return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

async function clean(name: string, secrets: readonly string[]): Promise<Measurement> {
	const redactor = createRedactor({ secrets });
	const text = textOf(prose, 4 * megabyte);
	const speeds: number[] = [];
	for (let at = -3; at < effort.repetitions(30); at++) {
		const { cpu, result } = await spend(() => redactor.redact(text));
		mustBe("what was masked", result === text, true);
		if (at >= 0) speeds.push(text.length / cpu);
	}
	const target = { is: "at least", value: 100 } as const;
	return { what: `text without hits, ${name}, by CPU time`, unit: "MB/s", median: median(speeds), target };
}

async function hostile(): Promise<Measurement> {
	const redactor = createRedactor({ secrets: ["s3cr3t/Value"] });
	const slowest = { unit: "", cpu: 0 };
	for (const unit of units) {
		const text = textOf(unit, megabyte);
		const times: number[] = [];
		for (let at = -2; at < effort.repetitions(10); at++) {
			const { cpu } = await spend(() => redactor.redact(text));
			if (at >= 0) times.push(cpu / 1_000);
		}
		if (median(times) > slowest.cpu) Object.assign(slowest, { unit, cpu: median(times) });
	}
	return {
		what: `1 MB of hostile text, the slowest of ${units.length} (${JSON.stringify(slowest.unit)}), by CPU time`,
		unit: "ms",
		median: slowest.cpu,
		target: { is: "at most", value: 50 },
	};
}

const secrets = Array.from({ length: 5 }, (_, at) => `correct-horse-battery-${at}`);
report([await clean("no secrets", []), await clean("5 secrets", secrets), await hostile()]);
