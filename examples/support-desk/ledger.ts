// Where refunds are booked: a file here, the payment provider elsewhere. It takes each order once, whoever asks again.
import { appendFile, readFile } from "node:fs/promises";

export async function refundOnce(file: string, order: string): Promise<void> {
	const booked = await readFile(file, "utf8").catch(() => "");
	if (!booked.split("\n").includes(order)) await appendFile(file, `${order}\n`);
}
