import { crc32, deflateSync } from "node:zlib";
import { defineTool } from "@holdfast/threads";
import { z } from "zod";

/** Attaches the picture of a receipt: it is stored in the thread's files, and the message contains its path. */
export default defineTool({
	description: "Attaches the receipt of an order.",
	args: z.object({ order: z.string() }),
	execute: async (_state, { order }) => ({
		status: "success",
		result: `The receipt of ${order} is attached.`,
		attachments: [
			{ name: `${order}.png`, mimeType: "image/png", data: picture(600, 400).toString("base64") },
		],
	}),
});

/** A grey PNG. */
function picture(width: number, height: number): Buffer {
	const rows = Buffer.alloc(height * (width + 1), 0xcc);
	for (let row = 0; row < height; row++) rows[row * (width + 1)] = 0;
	const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
	return Buffer.concat([
		signature,
		chunk("IHDR", header),
		chunk("IDAT", deflateSync(rows)),
		chunk("IEND", Buffer.alloc(0)),
	]);
}

function chunk(type: string, data: Buffer): Buffer {
	const body = Buffer.concat([Buffer.from(type), data]);
	const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
	length.writeUInt32BE(data.length);
	sum.writeUInt32BE(crc32(body));
	return Buffer.concat([length, body, sum]);
}
