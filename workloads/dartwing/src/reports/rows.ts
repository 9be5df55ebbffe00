// What the reports list. The statements see the rows of their organization only.

export interface ReportKind {
  readonly title: string
  readonly columns: readonly string[]
  /** Its columns are c1, c2, …: as many as there are headings. */
  readonly statement: string
}

export const REPORTS: Readonly<Record<'contacts' | 'faxes', ReportKind>> = {
  contacts: {
    title: 'Contacts',
    columns: ['Name', 'E-mail', 'Phone', 'City'],
    statement: `select fields ->> 'name' as c1, fields ->> 'email' as c2, fields ->> 'phone' as c3, fields ->> 'city' as c4
      from dartwing.contact
      where not deleted
      order by fields ->> 'name', name`,
  },
  faxes: {
    title: 'Faxes',
    columns: ['Fax', 'To', 'Status', 'Pages'],
    statement: `select id::text as c1, to_number as c2, status as c3, coalesce(pages, 0)::text as c4
      from dartwing.fax
      order by id`,
  },
}

export type ReportRow = Readonly<Record<string, string | null>>

export const cellsOf = ({ columns }: ReportKind, row: ReportRow): string[] =>
  columns.map((_, i) => row[`c${i + 1}`] ?? '')
