// Books refunds: in a file here, with a payment provider in production. It books each order once, however often it is requested.
import { appendFile, readFile } from "node:fs/promises";

export async function refundOnce(file: string, order: string): Promise<void> {
	const booked = await readFile(file, "utf8").catch(() => "");
	if (!booked.split("\n").includes(order)) await appendFile(file, `${order}\n`);
}
