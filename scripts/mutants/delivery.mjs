export const delivery = {}
