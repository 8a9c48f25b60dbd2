//! Goes through all rows. It has a type without closures, as what a game chains to it is compiled with each game, and this is not.

use super::Row;
use super::component_rows::ComponentRows;

/// The rows that are still to come.
pub(super) struct RowIter<'a> {
    tables: &'a [ComponentRows],
    component: usize,
    index: usize,
}

impl<'a> RowIter<'a> {
    pub(super) fn new(tables: &'a [ComponentRows]) -> RowIter<'a> {
        RowIter { tables, component: 0, index: 0 }
    }
}

impl<'a> Iterator for RowIter<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        loop {
            let table = self.tables.get(self.component)?;
            if self.index < table.entities.len() {
                self.index += 1;
                return Some(table.at(self.component, self.index - 1));
            }
            self.component += 1;
            self.index = 0;
        }
    }
}
