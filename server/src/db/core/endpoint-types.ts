// The types of chat endpoints, and the members each has.

/** The members of an endpoint, by type. */
const formats = {
  slack_channel: { required: ['channelId'], optional: [] },
  slack_user: { required: ['userId'], optional: [] },
  webhook: { required: ['url'], optional: ['channel'] },
  phone: { required: ['phoneNumber'], optional: [] },
  ms_teams_channel: { required: ['teamId', 'channelId'], optional: [] },
  ms_teams_user: { required: ['userId'], optional: [] },
} as const satisfies Record<string, { required: string[]; optional: string[] }>

export type EndpointType = keyof typeof formats
export const endpointTypes = Object.keys(formats) as EndpointType[]

/** Whether it has exactly the members of its type, each a non-empty string. */
export function fitsType(type: EndpointType, endpoint: Record<string, unknown>): endpoint is Record<string, string> {
  const { required, optional }: { required: readonly string[]; optional: readonly string[] } = formats[type]
  return (
    required.every((name) => Object.hasOwn(endpoint, name)) &&
    Object.entries(endpoint).every(
      ([name, value]) =>
        (required.includes(name) || optional.includes(name)) && typeof value === 'string' && value !== '',
    )
  )
}
