/** Maintenance that is currently impossible: one or two sentences for the user. Nothing was changed. */
export class UpkeepError extends Error {}
