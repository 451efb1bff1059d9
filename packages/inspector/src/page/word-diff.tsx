// The words that differ between two texts: what only the first contains is struck out, what only the second contains is
// underlined.
import type { JSX } from "preact";
import { changedWords } from "./changed-lines.ts";

export function WordDiff({
	before,
	after,
}: {
	readonly before: string;
	readonly after: string;
}): JSX.Element {
	return (
		<p class="plain">
			{changedWords(before, after).map(({ kind, line }, index) =>
				kind === "same" ? (
					line
				) : kind === "added" ? (
					<ins key={index} class="line-added">
						{line}
					</ins>
				) : (
					<del key={index} class="line-removed">
						{line}
					</del>
				),
			)}
		</p>
	);
}
