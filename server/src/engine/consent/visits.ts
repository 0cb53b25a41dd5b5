// Who fetched the links and the image of an e-mail: a person, or one of the programs that read mail before people do.
import { isbot } from 'isbot'

/** `unwanted`: a browser that looks ahead, or a person who does not want to be counted. Nothing is noted of them. */
export type Visitor = 'person' | 'robot' | 'unwanted'

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Within this time of the sending, only a scanner on the way can have fetched it. */
export const scanMs = 2_000
/** Links of one message fetched within this time of each other … */
const burstMs = 2_000
/** … if they are that many, were fetched by a program. */
const burstLinks = 3

/** Scanners of mail that `isbot` does not know. */
const scanners =
  /proofpoint|mimecast|barracuda|symantec|messagelabs|ironport|forcepoint|sophos|trendmicro|fireeye|trellix|fortiguard|zscaler|safelinks|urldefense|avanan|mailscanner|spamassassin|clamav|phish|virustotal/i
/** They fetch an image when a person opens the mail. */
const imageProxies = /GoogleImageProxy|YahooMailProxy/
/** No browser says more. */
const longestAgent = 512

export function visitorOf(method: string, headers: Headers, { isImage }: { isImage: boolean }): Visitor {
  const { purpose, dnt, 'sec-purpose': secPurpose, 'x-moz': moz, 'sec-gpc': privacy, 'user-agent': said } = headers
  if (privacy === '1' || dnt === '1') return 'unwanted'
  if (
    [purpose, secPurpose, moz].some((value) =>
      String(value ?? '')
        .toLowerCase()
        .includes('prefetch'),
    )
  )
    return 'unwanted'
  const agent = String(said ?? '')
    .slice(0, longestAgent)
    .trim()
  if (method === 'HEAD' || agent === '' || agent === 'Mozilla/5.0') return 'robot'
  if (isImage && imageProxies.test(agent)) return 'person'
  return isbot(agent) || scanners.test(agent) ? 'robot' : 'person'
}

/** A link that was followed; more than twice, the first and the last time stand for all. */
export interface FollowedLink {
  url: string
  first: Date
  last: Date
}

export interface Judged {
  /** Links that a person followed, with the time. */
  clicks: Array<{ url: string; at: Date }>
  /** When a robot was there first. */
  robotAt: Date | undefined
}

/** @param sentAt when the message was sent */
export function judgeClicks(links: FollowedLink[], sentAt: Date): Judged {
  const points = links
    .flatMap(({ url, first, last }) => [
      { url, at: first.getTime() },
      ...(last.getTime() === first.getTime() ? [] : [{ url, at: last.getTime() }]),
    ])
    .sort((one, other) => one.at - other.at)
  const isRobot = points.map(({ at }) => at < sentAt.getTime() + scanMs)
  let from = 0
  for (const [to, { at }] of points.entries()) {
    while ((points[from]?.at ?? at) < at - burstMs) from += 1
    const within = points.slice(from, to + 1)
    if (new Set(within.map(({ url }) => url)).size >= burstLinks) isRobot.fill(true, from, to + 1)
  }
  const clicks = new Map<string, Date>()
  for (const [place, { url, at }] of points.entries())
    if (!isRobot[place] && !clicks.has(url)) clicks.set(url, new Date(at))
  const robot = points.find((_, place) => isRobot[place])
  return {
    clicks: [...clicks].map(([url, at]) => ({ url, at })),
    robotAt: robot && new Date(robot.at),
  }
}
