// The processes of the chaos: each is started again when it was killed, and gets to the database by a way of its own.
import { type ChildProcess, fork } from "node:child_process";
import { openWay, type Way } from "@holdfast/testing/postgres-server";
import type { ChaosProcessOptions } from "./chaos-process.fixture.ts";

export interface ChaosChild {
	readonly role: ChaosProcessOptions["role"];
	readonly way: Way;
	/** Where it listens; undefined while it does not. */
	readonly port: number | undefined;
	/** Whether it has begun to work. */
	readonly isReady: boolean;
	/** Kills it, and starts another one. */
	kill(): void;
	/** Stops it for so many milliseconds. */
	stopFor(milliseconds: number): void;
	/** Wakes it, where it is stopped. */
	wake(): void;
	end(): Promise<void>;
}

export async function startChild(
	options: ChaosProcessOptions,
	{ url, port: database }: { readonly url: string; readonly port: number },
): Promise<ChaosChild> {
	const way = await openWay(() => database);
	const direct = new URL(url);
	direct.port = String(way.port);
	const host = { ...options.host, connectionString: direct.href };
	const given = JSON.stringify({ ...options, host });
	let isOver = false;
	let isReady = false;
	let port: number | undefined;
	let timer: ReturnType<typeof setTimeout> | undefined;
	let child: ChildProcess;

	function start(): void {
		isReady = false;
		port = undefined;
		const fresh = fork(new URL("./chaos-process.fixture.ts", import.meta.url), [given], {
			execArgv: ["--conditions=holdfast-source", "--no-warnings"],
			stdio: ["ignore", "ignore", "inherit", "ipc"],
		});
		fresh.on("error", () => {});
		fresh.on("message", (message: { ready?: boolean; port?: number }) => {
			isReady = message.ready === true;
			port = message.port;
		});
		fresh.once("exit", () => {
			if (!isOver) start();
		});
		child = fresh;
	}

	function wake(): void {
		clearTimeout(timer);
		timer = undefined;
		child.kill("SIGCONT");
	}

	start();
	return {
		role: options.role,
		way,
		get port() {
			return port;
		},
		get isReady() {
			return isReady;
		},
		kill() {
			isReady = false;
			port = undefined;
			child.kill("SIGKILL");
		},
		stopFor(milliseconds) {
			child.kill("SIGSTOP");
			clearTimeout(timer);
			timer = setTimeout(wake, milliseconds);
		},
		wake,
		async end() {
			isOver = true;
			clearTimeout(timer);
			if (child.exitCode === null && child.signalCode === null) {
				const gone = new Promise((resolve) => child.once("exit", resolve));
				child.kill("SIGKILL");
				await gone;
			}
			await way.close();
		},
	};
}
