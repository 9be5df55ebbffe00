// A file of what a list shows, for a spreadsheet: the server writes it, with the rights of the caller.
import { basePath } from '../data/base.ts'
import { pathOf } from '../data/client.ts'
import { Icon } from '../ui/icon.tsx'

export interface CsvLinkProps {
  operation: 'jobs.csv' | 'deadLetters.csv' | 'audit.csv'
  /** As the list has it. */
  input: Readonly<Record<string, string | undefined>>
  /** What is in it: "these jobs". */
  of: string
}

export function CsvLink({ operation, input, of }: CsvLinkProps) {
  const given = Object.entries(input).filter((entry): entry is [string, string] => !!entry[1])
  const search = new URLSearchParams(given).toString()
  return (
    <a
      className="btn sm"
      href={`${basePath}${pathOf(operation)}${search && `?${search}`}`}
      download
      title={`Download ${of} as CSV, up to 10,000 rows`}
    >
      <Icon name="download" /> CSV
    </a>
  )
}
