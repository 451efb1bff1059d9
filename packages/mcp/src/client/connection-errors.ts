// Classifies connection errors: whether a sign-in is required, and whether a request may have arrived.
import { SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from "@modelcontextprotocol/client";

/** Whether a server requires authentication. */
export function isUnauthorized(error: unknown): boolean {
	if (error instanceof UnauthorizedError) return true;
	if (error instanceof SdkHttpError) return error.status === 401;
	return error instanceof Error && error.cause !== undefined && isUnauthorized(error.cause);
}

/** Returns whether the request may have arrived before the connection was lost; undefined if it was not lost. */
export function lossOf(error: unknown): "never-arrived" | "unknown" | undefined {
	if (error instanceof SdkHttpError) {
		// A restarted server has lost the session, and has not run the request.
		if (error.status === 404) return "never-arrived";
		return error.status === 502 || error.status === 503 || error.status === 504 ? "unknown" : undefined;
	}
	if (error instanceof SdkError) {
		if (error.code === SdkErrorCode.NotConnected) return "never-arrived";
		return error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.SendFailed
			? "unknown"
			: undefined;
	}
	if (!(error instanceof TypeError)) return undefined;
	const code = (error.cause as { code?: unknown } | undefined)?.code;
	return code === "ECONNREFUSED" ? "never-arrived" : "unknown";
}
