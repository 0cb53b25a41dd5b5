// Workflows and layouts that are kept in files: where, and what becomes of changes that are made here.
import { useQuery } from '@tanstack/react-query'
import { FileCode2, GitCommitHorizontal } from 'lucide-react'
import { toast } from 'sonner'
import { definitions } from '../../api/definitions.ts'
import { type Subject, versions } from '../../api/versions.ts'
import type { Workflow } from '../../api/workflows.ts'
import { Button } from '../base/button.tsx'
import { copyText } from '../base/copy-text.ts'
import { Badge } from '../base/status.tsx'

type Files = Workflow['files']

/** Whether what files own can be changed here. Until that is known it cannot. */
export function useFilesRule(files: Files): { isReadOnly: boolean; warns: boolean } {
  const { data } = useQuery({ ...definitions.settings(), enabled: files !== undefined })
  if (!files) return { isReadOnly: false, warns: false }
  return { isReadOnly: data === undefined || data.edits === 'refuse', warns: data?.edits === 'warn' }
}

const shortCommit = (commit: string) => commit.slice(0, 7)
const isWeb = (url: string | null | undefined): url is string => typeof url === 'string' && /^https?:\/\//.test(url)

/** Where it is kept; the commit is a link. */
export function FilesBadge({ files }: { files: Files }) {
  if (!files) return null
  const { path, commit, url } = files
  return (
    <span className="flex min-w-0 items-center gap-1.5 text-sm font-normal tracking-normal">
      <Badge className="max-w-60">
        <FileCode2 aria-hidden />
        <span className="truncate" title={path ?? undefined}>
          {path ?? 'In files'}
        </span>
      </Badge>
      {commit &&
        (isWeb(url) ? (
          <a
            href={url}
            target="_blank"
            rel="noreferrer"
            className="inline-flex items-center gap-1 font-mono text-xs text-muted underline underline-offset-2 hover:text-ink"
          >
            <GitCommitHorizontal className="size-3.5" aria-hidden />
            {shortCommit(commit)}
          </a>
        ) : (
          <code className="text-xs text-muted">{shortCommit(commit)}</code>
        ))}
    </span>
  )
}

interface FilesNoteProps {
  subject: Subject
  version: number
  files: Files
}

/** Above what can be changed: that it is kept in files. */
export function FilesNote({ subject, version, files }: FilesNoteProps) {
  const { isReadOnly, warns } = useFilesRule(files)
  if (!files || (!isReadOnly && !warns && !files.drifted)) return null
  const where = files.path ? ` (${files.path})` : ''
  const since = files.commit ? ` since commit ${shortCommit(files.commit)}` : ' since the last push'
  const copy = async () => {
    await copyText(await versions.text(subject, version))
    toast.success('Copied as YAML. Paste it into the file')
  }
  return (
    <div
      role="note"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b bg-raised px-4 py-2 text-sm text-pretty sm:px-6"
    >
      <FileCode2 className="size-4 shrink-0 text-muted" aria-hidden />
      <span className="min-w-60 flex-1">
        {files.drifted
          ? `Changed here${since}: pull it, or it will be a conflict.`
          : isReadOnly
            ? `It is kept in files${where}. Change it there and push it; here it is read-only.`
            : `It is kept in files${where}. If you change it here, pull it, or the next push will be a conflict.`}
      </span>
      <Button size="sm" onClick={() => void copy()}>
        Copy as file
      </Button>
    </div>
  )
}
