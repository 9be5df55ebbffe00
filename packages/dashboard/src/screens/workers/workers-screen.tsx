export function WorkersScreen() {
  return <h1 className="verdict">Workers</h1>
}
