const STATES: Readonly<Record<string, string>> = {
  ok: 'works',
  moved: 'has moved',
  unsure: 'did not answer lately',
  broken: 'did not answer lately',
}

/** What the last look at its links has found. */
export const stateOfSite = (state: string): string => STATES[state] ?? 'not looked at yet'
