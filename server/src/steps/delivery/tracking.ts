// What an e-mail says about itself where its workflow counts opens and clicks: links that lead past us, and an image.
import { RenderError } from '../../render/limits.ts'
import { withTracks } from '../../render/track.ts'
import type { CallTools } from '../contract/call-tools.ts'
import type { StepRun } from '../contract/step-run.ts'
import { type Addressed, clickUrl, linkBaseOf, openUrl } from './consent-links.ts'

type Tools = Pick<CallTools, 'publicUrl' | 'secrets' | 'clock'>

/** The HTML that a provider gets. What is stored and previewed stays without tracks. */
export function tracked(html: string, of: StepRun, tools: Tools, addressed: Addressed): string {
  const { tracking } = of.run.workflow
  if (!tracking) return html
  const own = ownPaths(of, tools)
  const isOwn = (url: string) => own.some((path) => url.startsWith(path))
  try {
    return withTracks(html, {
      link: tracking.clicks ? (url) => (isOwn(url) ? undefined : clickUrl(of, tools, addressed, url)) : undefined,
      image: tracking.opens ? openUrl(of, tools, addressed) : undefined,
    })
  } catch (error) {
    // HTML that the user's code made may be too much to read. It is sent as it is.
    if (error instanceof RenderError) return html
    throw error
  }
}

/** Links of ours are never counted: who refuses a message or answers a question has said enough. */
const ownPaths = (of: StepRun, tools: Tools): string[] =>
  [linkBaseOf(of, tools), tools.publicUrl.replace(/\/+$/, '')].flatMap((base) => [`${base}/l/`, `${base}/a/`])
