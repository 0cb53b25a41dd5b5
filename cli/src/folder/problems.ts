// What is wrong in a folder, with file, line and column.

export interface FileProblem {
  file: string
  line: number
  column: number
  severity: 'error' | 'warning'
  code: string
  message: string
}
