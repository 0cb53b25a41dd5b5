// Puts text on the clipboard.
import { toast } from 'sonner'

/** Over plain HTTP browsers have no clipboard to write to, but still copy what is selected. */
export async function copyText(text: string): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined
  if (clipboard) return clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  field.setAttribute('readonly', '')
  field.style.cssText = 'position: fixed; opacity: 0'
  // Inside a dialog, only what it contains can have the focus.
  const around = document.activeElement?.parentElement ?? document.body
  const before = document.activeElement
  around.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  if (!isCopied) throw new Error('The browser does not let this page copy. Select the text and copy it yourself.')
}

/** For a copy that failed. */
export const tellNotCopied = (error: unknown): void => {
  toast.error(error instanceof Error ? error.message : String(error))
}
