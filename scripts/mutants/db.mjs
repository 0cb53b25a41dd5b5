export const db = {}
