// What the page shows while its server does not answer: since when, and a way to try again at once.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { awaySince, retryNow } from "./api.ts";
import { formatDuration, formatWhen } from "./format.ts";

export function Away(): JSX.Element | null {
	const since = awaySince.value;
	const [now, setNow] = useState(0);
	useEffect(() => {
		if (since === undefined) return;
		setNow(Date.now());
		const timer = setInterval(() => setNow(Date.now()), 1_000);
		return () => clearInterval(timer);
	}, [since]);
	if (since === undefined) return null;
	return (
		<div class="notice is-error away">
			<span role="alert">
				Cannot reach the server at {location.host} since {formatWhen(since)}. What you typed is kept.
			</span>
			<span class="quiet" aria-hidden="true">
				{formatDuration(Math.max(0, now - since))}
			</span>
			<button type="button" onClick={retryNow}>
				Retry now
			</button>
		</div>
	);
}
