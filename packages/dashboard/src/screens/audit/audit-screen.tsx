export function AuditScreen() {
  return <h1 className="verdict">Audit</h1>
}
