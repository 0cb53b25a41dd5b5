// A text that ends in "…" says the whole of itself to the pointer, wherever it is: no place has to remember a title.

const isCut = (element: Element): element is HTMLElement =>
  element instanceof HTMLElement &&
  element.scrollWidth > element.clientWidth &&
  getComputedStyle(element).textOverflow === 'ellipsis'

/** @returns how to stop */
export function sayWholeTexts(): () => void {
  let last: Element | undefined
  const follow = ({ target, clientX, clientY }: MouseEvent) => {
    if (!(target instanceof HTMLElement)) return
    const isOurs = target.dataset.whole !== undefined
    if (target.title !== '' && !isOurs) return
    // The link of a row lies over its cells, so what is below the pointer counts, not what gets the event.
    const cut = document.elementsFromPoint(clientX, clientY).find(isCut)
    if (cut === last && isOurs) return
    last = cut
    if (cut && cut.closest('[title]:not([data-whole])') === null) {
      target.title = cut.textContent.replaceAll(/\s+/g, ' ').trim()
      target.dataset.whole = ''
    } else if (isOurs) {
      target.removeAttribute('title')
      delete target.dataset.whole
    }
  }
  document.addEventListener('mousemove', follow, { passive: true })
  return () => document.removeEventListener('mousemove', follow)
}
