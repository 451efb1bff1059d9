// An image or a file of a message. Bytes are read on request. Addresses are never loaded, because the request would reveal
// to their server that the page was opened.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ShownEntry } from "../wire/index.ts";
import { ask, inspectPath } from "./api.ts";
import type { SaidFile } from "./conversation-model.ts";
import { isSafeLink } from "./markdown.tsx";
import { Act } from "./parts.tsx";
import type { MessageSession } from "./session-store.ts";

export function SaidFileView(props: {
	readonly of: SaidFile;
	readonly seq: number;
	readonly store: MessageSession;
}): JSX.Element {
	const { of, seq, store } = props;
	const { index, type, mimeType, title = type, url } = of;
	const [shown, setShown] = useState<string | undefined>(undefined);
	const isPicture = /^image\/(png|jpeg|gif|webp|avif)$/.test(mimeType);
	const load = async (): Promise<void> => {
		const child = store.child === undefined ? "" : `?child=${encodeURIComponent(store.child)}`;
		const { body } = await ask<ShownEntry>(inspectPath(store.sessionId, `/entries/${seq}${child}`));
		const data = dataOf(body, index);
		if (data === undefined) throw new Error("The entry no longer contains the bytes.");
		setShown(`data:${mimeType};base64,${data}`);
	};
	return (
		<p class="said-file">
			{shown === undefined ? null : <img class="picture" src={shown} alt={title} />}
			<span>
				{title} <span class="quiet">{mimeType}</span>
			</span>{" "}
			{url !== undefined ? (
				isSafeLink(url) ? (
					<a href={url} rel="noreferrer noopener" target="_blank">
						{url}
					</a>
				) : (
					<code>{url}</code>
				)
			) : isPicture && shown === undefined ? (
				<Act class="small" does={load}>
					Show
				</Act>
			) : null}
		</p>
	);
}

/** Returns the base64 text of a block. */
function dataOf(body: ShownEntry["body"], index: number): string | undefined {
	const { content = [] } = (body.message ?? {}) as { content?: readonly Record<string, unknown>[] };
	const { source, data = (source as { data?: unknown } | undefined)?.data } = content[index] ?? {};
	const text =
		typeof data === "string"
			? data
			: Object.values((data ?? {}) as object).find((each) => typeof each === "string");
	return typeof text === "string" && /^[A-Za-z\d+/=_-]+$/.test(text) ? text : undefined;
}
