// A list that renders only its visible lines, with TanStack Virtual: as fast with ten thousand lines as with ten.
import {
	elementScroll,
	observeElementOffset,
	observeElementRect,
	type PartialKeys,
	Virtualizer,
	type VirtualizerOptions,
} from "@tanstack/virtual-core";
import { Component, type ComponentChildren, type JSX } from "preact";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

type Options = PartialKeys<
	VirtualizerOptions<HTMLElement, HTMLElement>,
	"observeElementRect" | "observeElementOffset" | "scrollToFn"
>;

function useVirtualizer(options: Options): Virtualizer<HTMLElement, HTMLElement> {
	const [, rerender] = useReducer((count: number) => count + 1, 0);
	const all: VirtualizerOptions<HTMLElement, HTMLElement> = {
		observeElementRect,
		observeElementOffset,
		scrollToFn: elementScroll,
		...options,
		onChange: () => rerender(undefined as never),
	};
	const [virtualizer] = useState(() => new Virtualizer(all));
	virtualizer.setOptions(all);
	useLayoutEffect(() => virtualizer._didMount(), []);
	useLayoutEffect(() => virtualizer._willUpdate());
	return virtualizer;
}

interface LineProps {
	readonly index: number;
	readonly version: unknown;
	readonly line: (index: number) => ComponentChildren;
}

/** A line is redrawn when its content changes, but not on every scroll. */
class Line extends Component<LineProps> {
	override shouldComponentUpdate({ index, version }: LineProps): boolean {
		return index !== this.props.index || version !== this.props.version;
	}

	override render({ index, line }: LineProps): ComponentChildren {
		return line(index);
	}
}

/** A list. */
export interface VirtualListProps {
	readonly label: string;
	readonly count: number;
	/** Height of a line in pixels; with `isMeasured`, an estimate. */
	readonly lineHeight: number;
	readonly isMeasured?: boolean;
	readonly line: (index: number) => ComponentChildren;
	/** A new value if the lines may have changed. */
	readonly version: unknown;
	readonly keyOf: (index: number) => string | number;
	/** Keeps following the end while it is in view. */
	readonly isAtEnd?: boolean;
	/** Scrolls to this line when it changes. */
	readonly current?: number | undefined;
	readonly onSeen?: (first: number, last: number) => void;
	readonly class?: string;
	/** The lines are rows of a table whose head precedes the list. */
	readonly as?: "rows";
}

/** Distance from the end in pixels within which the end counts as in view. */
const nearEnd = 80;

/** A table of rows that are placed by their offset cannot consist of `<tr>`. */
const rowTags = ["div", "div", "div"] as unknown as typeof listTags;
const listTags = ["section", "ul", "li"] as const;

export function VirtualList(props: VirtualListProps): JSX.Element {
	const {
		label,
		count,
		lineHeight,
		isMeasured = false,
		line,
		keyOf,
		isAtEnd = false,
		current,
		version,
		onSeen,
		as,
	} = props;
	const isRows = as === "rows";
	const [Scroller, Space, Item] = isRows ? rowTags : listTags;
	const scroller = useRef<HTMLElement>(null);
	const staysAtEnd = useRef(isAtEnd);
	const virtualizer = useVirtualizer({
		count,
		getScrollElement: () => scroller.current,
		estimateSize: () => lineHeight,
		getItemKey: keyOf,
		overscan: 8,
		initialRect: { width: 800, height: 600 },
	});
	const items = virtualizer.getVirtualItems();
	const first = items[0]?.index ?? 0;
	const last = items.at(-1)?.index ?? 0;
	const height = virtualizer.getTotalSize();
	useEffect(() => {
		onSeen?.(first, last);
	}, [first, last, count]);
	useLayoutEffect(() => {
		const element = scroller.current;
		if (isAtEnd && staysAtEnd.current && element !== null) element.scrollTop = element.scrollHeight;
	});
	useEffect(() => {
		if (current === undefined || current < 0) return;
		staysAtEnd.current = false;
		virtualizer.scrollToIndex(current, { align: "auto" });
	}, [current]);
	return (
		<Scroller
			class={`list ${props.class ?? ""}`}
			ref={scroller}
			tabIndex={0}
			{...(isRows ? { role: "rowgroup" } : { "aria-label": label })}
			onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
				staysAtEnd.current = scrollHeight - scrollTop - clientHeight < nearEnd;
			}}
		>
			<Space class="list-space" role={isRows ? "presentation" : undefined} style={{ height: `${height}px` }}>
				{items.map(({ index, key, start }) => (
					<Item
						class="list-line"
						key={key}
						data-index={index}
						{...(isRows
							? { role: "row", "aria-rowindex": index + 2 }
							: { "aria-setsize": count, "aria-posinset": index + 1 })}
						ref={(element) => {
							if (isMeasured) virtualizer.measureElement(element);
						}}
						style={{
							transform: `translateY(${start}px)`,
							...(isMeasured ? {} : { height: `${lineHeight}px` }),
						}}
					>
						<Line index={index} version={version} line={line} />
					</Item>
				))}
			</Space>
		</Scroller>
	);
}
