// A chart of bars or lines over time, with axes, a legend, and the same numbers as a table.
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { formatTick, ticksTo } from "./chart-scale.ts";
import { formatTime } from "./format.ts";
import { Scrolls } from "./scrolls.tsx";

/** The values at a time; undefined where nothing was measured. */
export interface Point {
	readonly at: number;
	readonly values: readonly (number | undefined)[];
}

const height = 170;
const edge = { top: 8, right: 8, bottom: 22, left: 58 };
const timeTicks = 5;

export function Chart(props: {
	readonly title: string;
	readonly points: readonly Point[];
	readonly names: readonly string[];
	readonly format: (value: number) => string;
	/** Bars are stacked. Default: bars. */
	readonly as?: "bars" | "lines";
	/** The values are failures. */
	readonly isBad?: boolean;
}): JSX.Element {
	const { title, points, names, format, as = "bars", isBad = false } = props;
	const [width, setWidth] = useState(420);
	const box = useRef<HTMLDivElement>(null);
	useLayoutEffect(() => {
		const element = box.current;
		if (element === null) return;
		const observer = new ResizeObserver(() => setWidth(Math.max(200, element.clientWidth)));
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
	const sum = ({ values }: Point): number => values.reduce<number>((total, value = 0) => total + value, 0);
	const most = Math.max(
		0,
		...points.map((point) =>
			as === "bars" ? sum(point) : Math.max(0, ...point.values.map((value = 0) => value)),
		),
	);
	const ticks = ticksTo(
		most,
		points.every(({ values }) => values.every((value = 0) => Number.isInteger(value))),
	);
	const top = ticks.at(-1) ?? 1;
	const inner = { width: width - edge.left - edge.right, height: height - edge.top - edge.bottom };
	const step = inner.width / Math.max(1, points.length);
	const y = (value: number): number => edge.top + inner.height * (1 - value / top);
	const x = (index: number): number => edge.left + index * step;
	const span = (points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0);
	const every = Math.max(1, Math.ceil(points.length / timeTicks));
	const total = points.reduce((all, point) => all + sum(point), 0);
	return (
		<figure class={`chart ${isBad ? "is-bad" : ""}`}>
			<figcaption>
				{title}
				<span class="legend">
					{names.length < 2
						? null
						: names.map((name, which) => (
								<span key={name} class={`key part-${which}`}>
									{name}
								</span>
							))}
				</span>
			</figcaption>
			<div ref={box}>
				<svg
					width={width}
					height={height}
					role="img"
					aria-label={
						as === "bars" ? `${title}: ${format(total)} in all` : `${title}: at most ${format(most)}`
					}
				>
					{ticks.map((tick) => (
						<g key={tick}>
							<line class="grid" x1={edge.left} x2={width - edge.right} y1={y(tick)} y2={y(tick)} />
							<text x={edge.left - 6} y={y(tick) + 4} text-anchor="end">
								{format(tick)}
							</text>
						</g>
					))}
					{points.map(({ at }, index) =>
						index % every === 0 ? (
							<text key={at} x={x(index)} y={height - 6}>
								{formatTick(at, span)}
							</text>
						) : null,
					)}
					{as === "bars"
						? points.map((point) => (
								<Bar key={point.at} of={point} x={x(points.indexOf(point))} wide={step} y={y} />
							))
						: names.map((name, which) => (
								<Line key={name} of={points} which={which} x={(index) => x(index) + step / 2} y={y} />
							))}
					{points.map(({ at, values }, index) => (
						<rect key={at} class="reading" x={x(index)} y={edge.top} width={step} height={inner.height}>
							<title>
								{`${formatTime(at)}\n${names
									.map(
										(name, which) => `${name}: ${values[which] === undefined ? "–" : format(values[which])}`,
									)
									.join("\n")}`}
							</title>
						</rect>
					))}
				</svg>
			</div>
			<details>
				<summary>{title} as a table</summary>
				<Scrolls class="table" label={`${title} as a table`}>
					<table>
						<thead>
							<tr>
								<th>time</th>
								{names.map((name) => (
									<th key={name}>{name}</th>
								))}
							</tr>
						</thead>
						<tbody>
							{points.map((point) =>
								sum(point) === 0 ? null : (
									<tr key={point.at}>
										<td>{formatTime(point.at)}</td>
										{names.map((name, which) => {
											const value = point.values[which];
											return <td key={name}>{value === undefined ? "–" : format(value)}</td>;
										})}
									</tr>
								),
							)}
						</tbody>
					</table>
				</Scrolls>
			</details>
		</figure>
	);
}

function Bar(props: {
	readonly of: Point;
	readonly x: number;
	readonly wide: number;
	readonly y: (value: number) => number;
}): JSX.Element {
	const { of, x, wide, y } = props;
	let below = 0;
	return (
		<>
			{of.values.map((value = 0, which) => {
				const from = below;
				below += value;
				return value === 0 ? null : (
					<rect
						key={which}
						class={`part-${which}`}
						x={x}
						y={y(below)}
						width={Math.max(1, wide - 1)}
						height={Math.max(1, y(from) - y(below))}
					/>
				);
			})}
		</>
	);
}

function Line(props: {
	readonly of: readonly Point[];
	readonly which: number;
	readonly x: (index: number) => number;
	readonly y: (value: number) => number;
}): JSX.Element {
	const { of, which, x, y } = props;
	const drawn = of.flatMap(({ values }, index) => {
		const value = values[which];
		return value === undefined ? [] : [[x(index), y(value)] as const];
	});
	return (
		<>
			<polyline class={`line part-${which}`} points={drawn.map((each) => each.join(",")).join(" ")} />
			{drawn.map(([left, top]) => (
				<circle key={left} class={`part-${which}`} cx={left} cy={top} r={2.5} />
			))}
		</>
	);
}
