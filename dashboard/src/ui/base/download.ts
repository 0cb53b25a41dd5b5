// Downloads a file created in the browser.

export function download(name: string, text: string | readonly string[], type: string): void {
  const url = URL.createObjectURL(new Blob([text].flat(), { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // After the click the browser owns the file.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

export const downloadJson = (name: string, value: unknown): void =>
  download(name, `${JSON.stringify(value, undefined, 2)}\n`, 'application/json')
