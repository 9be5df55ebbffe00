// Redrives under way, above the list.
import { CanaryPanel } from './canary-panel.tsx'
import type { Group } from './groups.ts'

const MOST = 2

export const RunningRedrives = ({ groups }: { groups: readonly Group[] }) => (
  <>
    {groups
      .flatMap(({ operation, type }) => (operation ? [{ id: operation.id, type }] : []))
      .slice(0, MOST)
      .map(({ id }) => (
        <CanaryPanel key={id} id={id} />
      ))}
  </>
)
