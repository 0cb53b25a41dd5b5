export const kinds = {}
