// Which status codes of mail servers (RFC 3463) say that an address does not exist, and will not.

const dead: ReadonlySet<string> = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1'])

export const isDeadStatus = (status: string): boolean => dead.has(status)

/** The enhanced code of a reply such as `550 5.1.1 User unknown`. */
export const enhancedStatus = (reply: string): string | undefined =>
  /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})(?!\d)/.exec(reply)?.[1]

export const isDeadReply = (reply: string): boolean => isDeadStatus(enhancedStatus(reply) ?? '')
