export const http = {}
