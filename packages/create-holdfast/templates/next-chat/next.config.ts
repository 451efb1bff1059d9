import type { NextConfig } from "next";

const config: NextConfig = {
	// They run from node_modules, because they start their own threads.
	serverExternalPackages: ["holdfast", "@holdfast/server", "@holdfast/testing", "@holdfast/upp"],
};

export default config;
