// Servers that are not there, or do not answer.
import { createServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Clients } from "./contract/index.ts";
import { freePort } from "./redis-server.fixture.ts";

/** Tests a server's clients for the guarantees about connections. */
export function unreachableTests(
	name: string,
	open: (port: number, connectTimeoutMs: number | undefined) => Clients,
): void {
	const refused = expect.objectContaining({ code: "DB_UNAVAILABLE", retryable: true });

	test(`${name}: a refused connection rejects at once, and can be retried [RUN-102]`, async () => {
		const clients = open(await freePort(), undefined);
		const started = performance.now();
		const timers = vi.spyOn(globalThis, "setTimeout");
		onTestFinished(() => timers.mockRestore());
		await expect(clients.memory.append("s", 1)).rejects.toEqual(refused);
		expect(timers.mock.calls.map(([, milliseconds]) => milliseconds)).toContain(5_000);
		await expect(clients.database.read("c", "k")).rejects.toEqual(refused);
		await expect(clients.health()).rejects.toEqual(refused);
		await expect(clients.start()).rejects.toEqual(refused);
		expect(performance.now() - started).toBeLessThan(5_000);
		await clients.close();
	});

	test(`${name}: a connection that hangs rejects within the given time [RUN-102]`, async () => {
		const sockets: Socket[] = [];
		const server = createServer((socket) => {
			socket.on("error", () => {});
			sockets.push(socket);
		});
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const { port } = server.address() as { port: number };
		const clients = open(port, 300);
		for (const call of [() => clients.memory.read("s"), () => clients.health()]) {
			const started = performance.now();
			await expect(call()).rejects.toEqual(refused);
			const took = performance.now() - started;
			expect(took).toBeGreaterThan(250);
			expect(took).toBeLessThan(3_000);
		}
		expect(sockets.length).toBeGreaterThanOrEqual(2);
		await clients.close();
		for (const socket of sockets) socket.destroy();
		server.close();
	});
}
