// An installation to look at: one large organization and four small ones, with people, documents and endpoints. Only for the sandbox.
import { EncryptionKeyMissing, type Millrace, type Queryable } from 'millrace'
import PDFDocument from 'pdfkit'
import { memberAdd, organizationAdd, organizationList } from '../organization/directory.ts'
import { query } from '../query.ts'
import type { DartwingSystem } from '../system.ts'
import { secretsFor } from '../webhooks/secrets.ts'
import { RECEIVER_SECRET } from './receivers.ts'

export const SAMPLE = [
  { name: 'ORG-2025-00001', title: 'Meridian Logistics' },
  { name: 'ORG-2025-00002', title: 'Harbour Dental' },
  { name: 'ORG-2025-00003', title: 'Oak & Ash Joinery' },
  { name: 'ORG-2025-00004', title: 'Café Łódź' },
  { name: 'ORG-2025-00005', title: 'Studio Ελιά' },
] as const

/** Of each organization's endpoint. */
export const SAMPLE_RECEIVER = 'orders'

/** Safe to repeat: an organization that is there stays as it is. */
export async function loadSampleData(system: DartwingSystem, sandboxUrl: string): Promise<void> {
  const { database, millrace } = system
  const known = new Set((await organizationList(database)).map(({ name }) => name))
  const missing = SAMPLE.filter(({ name }) => !known.has(name))
  if (missing.length === 0) return
  const letter = await letterPdf('A letter of two pages', 2)
  for (const { name, title } of missing) {
    await database.transaction(async (tx) => {
      await organizationAdd(tx, { name, title })
      await memberAdd(tx, { organization: name, fullName: `Admin of ${title}`, login: adminOf(name), role: 'Admin' })
    })
    await millrace.tenantDb(name, (tx) => addThings(tx, millrace, { organization: name, letter, sandboxUrl }))
  }
}

export const adminOf = (organization: string): string => `admin@${organization.toLowerCase()}.example`

async function addThings(
  tx: Queryable,
  millrace: Millrace,
  { organization, letter, sandboxUrl }: { organization: string; letter: Buffer; sandboxUrl: string },
): Promise<void> {
  await tx.query(
    `insert into dartwing.document (organization, title, media_type, content) values ($1, 'Letter', 'application/pdf', $2)`,
    [organization, letter],
  )
  await tx.query(
    `insert into dartwing.task (organization, name, fields)
     select $1, 'TASK-' || n, jsonb_build_object('subject', 'Task ' || n, 'status', 'Open')
     from generate_series(1, 20) as n`,
    [organization],
  )
  const [row] = await query<{ id: string }>(
    tx,
    `insert into dartwing.webhook_endpoint (organization, url, sealed_secrets) values ($1, $2, '') returning id::text`,
    [organization, `${sandboxUrl}/receivers/${SAMPLE_RECEIVER}`],
  )
  const endpoint = (row as { id: string }).id
  await tx.query('update dartwing.webhook_endpoint set sealed_secrets = $2 where id = $1', [
    endpoint,
    sealed(millrace, organization, endpoint),
  ])
}

/** Without keys there are no webhooks to try, and everything else works. */
function sealed(millrace: Millrace, organization: string, endpoint: string): string {
  try {
    return millrace.seal([RECEIVER_SECRET], { for: secretsFor(organization, endpoint) })
  } catch (error) {
    if (error instanceof EncryptionKeyMissing) return ''
    throw error
  }
}

export function letterPdf(title: string, pages: number): Promise<Buffer> {
  const document = new PDFDocument({ size: 'A4', info: { Title: title } })
  const chunks: Buffer[] = []
  document.on('data', (chunk: Buffer) => chunks.push(chunk))
  const end = new Promise<void>((resolve) => document.once('end', resolve))
  document.fontSize(18).text(title)
  for (let page = 2; page <= pages; page++) document.addPage().fontSize(12).text(`Page ${page}`)
  document.end()
  return end.then(() => Buffer.concat(chunks))
}
