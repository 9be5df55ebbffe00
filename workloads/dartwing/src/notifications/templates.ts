// What the installation tells people of an organization by itself.

interface Told {
  readonly title: string
  readonly body: string
}

export const TEMPLATES = {
  job_limit: (about) => ({
    title: `Many jobs wait in ${about.split(':')[0]}`,
    body: 'Your organization has more jobs in this queue than its limit. They are queued, and run in turn.',
  }),
  stuck_job: (about) => ({
    title: 'A job was stopped',
    body: `It ran for twice its time, so it was ended: dead letter ${about}.`,
  }),
  reauthorization: (about) => ({
    title: 'An integration has to be connected again',
    body: `Its provider no longer accepts the stored grant: integration ${about}.`,
  }),
  endpoint_disabled: (about) => ({
    title: 'A webhook endpoint was disabled',
    body: `Its deliveries have failed too often: endpoint ${about}. Correct it, then enable it again.`,
  }),
} as const satisfies Readonly<Record<string, (about: string) => Told>>

export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as [keyof typeof TEMPLATES, ...(keyof typeof TEMPLATES)[]]
