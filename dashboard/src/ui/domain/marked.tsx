// What differs between two texts or two emails, marked on each side.
import { diffArrays, diffWordsWithSpace } from 'diff'
import type { ReactNode } from 'react'

export type Side = 'before' | 'after'

const classes = { before: 'bg-bad/20 text-inherit line-through', after: 'bg-good/25 text-inherit no-underline' } as const

/** The text of one side; what the other side lacks is marked, for screen readers too. */
export function Marked({ before, after, side }: { before: string; after: string; side: Side }): ReactNode {
  if (before === after) return before
  const parts = diffWordsWithSpace(before, after).filter(({ added, removed }) =>
    side === 'before' ? !added : !removed,
  )
  const Tag = side === 'before' ? 'del' : 'ins'
  return parts.map(({ value, added, removed }, index) =>
    added || removed ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other identity
      <Tag key={index} className={classes[side]}>
        {value}
      </Tag>
    ) : (
      value
    ),
  )
}

/** Beyond this, comparing word by word takes longer than anybody waits. */
const mostWords = 20_000

/** Both emails with the words marked that the other lacks. Nothing is marked in what only looks different. */
export function markHtml(before: string, after: string): { before: string; after: string; hasMarks: boolean } {
  const plain = { before, after, hasMarks: false }
  if (before === after) return plain
  const [old, now] = [before, after].map((html) => {
    const page = new DOMParser().parseFromString(html, 'text/html')
    return { page, words: wordsIn(page) }
  })
  if (!old || !now || old.words.length + now.words.length > mostWords) return plain
  const changes = diffArrays(
    old.words.map(({ text }) => text),
    now.words.map(({ text }) => text),
  )
  let [inOld, inNow] = [0, 0]
  for (const { count, added, removed } of changes) {
    if (removed) for (const word of old.words.slice(inOld, inOld + count)) word.isMarked = true
    if (added) for (const word of now.words.slice(inNow, inNow + count)) word.isMarked = true
    if (!added) inOld += count
    if (!removed) inNow += count
  }
  const hasMarks = [...old.words, ...now.words].some(({ isMarked, text }) => isMarked && text.trim() !== '')
  if (!hasMarks) return plain
  mark(old.page, old.words, 'del', 'background:#fecaca;color:#7f1d1d')
  mark(now.page, now.words, 'ins', 'background:#bbf7d0;color:#14532d;text-decoration:none')
  return { before: htmlOf(old.page), after: htmlOf(now.page), hasMarks }
}

interface Word {
  node: Text
  text: string
  isMarked: boolean
}

function wordsIn(page: Document): Word[] {
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT)
  const words: Word[] = []
  while (walker.nextNode()) {
    const node = walker.currentNode as Text
    if (node.parentElement?.closest('style, script, title')) continue
    for (const text of node.data.match(/\S+|\s+/g) ?? []) words.push({ node, text, isMarked: false })
  }
  return words
}

function mark(page: Document, words: Word[], tag: 'del' | 'ins', style: string): void {
  for (const [node, own] of Map.groupBy(words, (word) => word.node)) {
    if (!own.some(({ isMarked }) => isMarked)) continue
    const parts = own.map(({ text, isMarked }) => {
      if (!isMarked || text.trim() === '') return text
      const element = page.createElement(tag)
      element.setAttribute('style', style)
      element.textContent = text
      return element
    })
    node.replaceWith(...parts)
  }
}

const htmlOf = (page: Document) => `<!doctype html>${page.documentElement.outerHTML}`
