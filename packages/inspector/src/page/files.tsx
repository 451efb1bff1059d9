// The files of a thread: its folders, and previews of its files.
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { publicPath } from "./acts.ts";
import { bytesOf, remove } from "./api.ts";
import { useAnswer } from "./entry-details.tsx";
import { formatBytes } from "./format.ts";
import { useFocusBack } from "./keyboard.ts";
import { useRead } from "./latest.ts";
import { Act } from "./parts.tsx";
import { Scrolls } from "./scrolls.tsx";
import type { SessionStore } from "./session-store.ts";

interface ShownFile {
	readonly path: string;
	readonly name: string;
	readonly mimeType: string;
	readonly size: number;
	readonly isDirectory: boolean;
}

/** Maximum bytes of a file that is shown. */
const mostShown = 512 * 1024;

export function FilesTab({ store }: { readonly store: SessionStore }): JSX.Element {
	const [folder, setFolder] = useState("/");
	const [chosen, choose] = useState<ShownFile | undefined>(undefined);
	const [look, setLook] = useState(0);
	const { value, problem } = useAnswer<{ readonly entries: readonly ShownFile[] }>(
		fsPath(store.sessionId, folder),
		`${store.version.value} ${look}`,
	);
	const open = (to: string): void => {
		setFolder(to);
		choose(undefined);
	};
	if (problem !== undefined && folder !== "/")
		return (
			<p class="empty">
				{problem}{" "}
				<button type="button" onClick={() => open("/")}>
					All files
				</button>
			</p>
		);
	if (problem !== undefined) return <p class="notice is-error">{problem}</p>;
	if (value === undefined) return <p class="empty">Reading…</p>;
	const entries = [...value.entries].sort(
		(one, other) => Number(other.isDirectory) - Number(one.isDirectory) || (one.name < other.name ? -1 : 1),
	);
	if (entries.length === 0 && folder === "/")
		return <p class="empty">No files yet. Tools write them with writeFile.</p>;
	const above = folder.replace(/\/[^/]+\/?$/, "") || "/";
	return (
		<div class="split">
			<Scrolls class="scrolls files" label="Files">
				<p class="quiet">{folder}</p>
				<ul>
					{folder === "/" ? null : (
						<li>
							<button type="button" class="file" onClick={() => open(above)}>
								<span>‹ up</span>
							</button>
						</li>
					)}
					{entries.map((entry) => (
						<li key={entry.path}>
							<button
								type="button"
								class="file"
								aria-pressed={entry.isDirectory ? undefined : chosen?.path === entry.path}
								onClick={() => (entry.isDirectory ? open(entry.path) : choose(entry))}
							>
								<span>
									{entry.name}
									{entry.isDirectory ? "/" : ""}
								</span>
								<span class="quiet">{entry.isDirectory ? "" : formatBytes(entry.size)}</span>
							</button>
						</li>
					))}
				</ul>
				{entries.length === 0 ? <p class="quiet">This folder is empty.</p> : null}
			</Scrolls>
			{chosen === undefined ? (
				<p class="empty details">Choose a file.</p>
			) : (
				<FileDetails
					key={chosen.path}
					of={chosen}
					store={store}
					close={() => {
						choose(undefined);
						setLook((count) => count + 1);
					}}
				/>
			)}
		</div>
	);
}

function FileDetails(props: {
	readonly of: ShownFile;
	readonly store: SessionStore;
	readonly close: () => void;
}): JSX.Element {
	const { of: file, store, close } = props;
	const section = useRef<HTMLElement>(null);
	useFocusBack(section);
	const url = fsPath(store.sessionId, file.path);
	const isImage = file.mimeType.startsWith("image/");
	const isShown = isImage || file.size <= mostShown;
	const [shown, show] = useState<{ text?: string; image?: string; problem?: string }>({});
	const version = store.version.value;
	const read = async (signal: AbortSignal): Promise<typeof shown> => {
		const blob = await bytesOf(isImage ? `${url}?thumbnail=1` : url, signal);
		if (isImage) return { image: await dataOf(blob) };
		const text = await blob.text();
		return text.includes("\u0000") ? { problem: "This file is not text." } : { text };
	};
	useRead(isShown ? read : undefined, [url, version], show, ({ message }) => show({ problem: message }));
	return (
		<section ref={section} class="details" aria-label={`File ${file.path}`}>
			<header>
				<h2>{file.name}</h2>
				<span class="quiet">
					{file.mimeType} · {formatBytes(file.size)}
				</span>
				<button type="button" aria-label="Close file" onClick={close}>
					×
				</button>
			</header>
			<div class="acts">
				<Act does={() => download(url, file.name)}>Download</Act>
				<Act
					class="danger"
					does={async () => {
						if (!confirm(`Remove ${file.path}?`)) return;
						await remove(url);
						close();
					}}
				>
					Delete
				</Act>
			</div>
			{!isShown ? <p class="quiet">Too large to display.</p> : null}
			{shown.problem === undefined ? null : <p class="quiet">{shown.problem}</p>}
			{shown.image === undefined ? null : <img class="picture" src={shown.image} alt={file.name} />}
			{shown.text === undefined ? null : (
				<Scrolls class="value" label={`Content of ${file.name}`}>
					<pre>{shown.text}</pre>
				</Scrolls>
			)}
		</section>
	);
}

function fsPath(threadId: string, path: string): string {
	const parts = path.split("/").filter(Boolean).map(encodeURIComponent).join("/");
	return publicPath(threadId, `/fs/${parts}`);
}

/** The page's policy allows images only from its own server, whose requests would lack the key, and as data URLs. */
function dataOf(blob: Blob): Promise<string> {
	return new Promise((resolve, reject) => {
		const reader = new FileReader();
		reader.onload = () => resolve(String(reader.result));
		reader.onerror = () => reject(new Error("The image cannot be read."));
		reader.readAsDataURL(blob);
	});
}

async function download(url: string, name: string): Promise<void> {
	const address = URL.createObjectURL(await bytesOf(url));
	const link = document.createElement("a");
	link.href = address;
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
