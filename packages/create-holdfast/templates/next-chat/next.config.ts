import type { NextConfig } from "next";

const config: NextConfig = {
	// They run from node_modules, for they start threads of their own.
	serverExternalPackages: ["holdfast", "@holdfast/server", "@holdfast/testing", "@holdfast/upp"],
};

export default config;
