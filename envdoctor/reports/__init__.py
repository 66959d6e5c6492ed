"""One format a file: `render(report) -> str`. Pure: nothing here reads or writes."""
