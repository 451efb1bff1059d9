// The web site with the release notes: a server on this machine.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const notes = `Lighthouse 2.4.0
- API: lamp.on() takes a colour
- Docs: a page about fog
- API: horn() is gone, use sound()
- Build: faster`;

export async function startSite(): Promise<{ readonly host: string; close(): void }> {
	const server = createServer(({ url }, response) => {
		if (url === "/releases/latest") response.writeHead(302, { location: "/releases/2.4.0" }).end();
		else if (url === "/releases/2.4.0") response.end(notes);
		else response.writeHead(404).end();
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}
