colour: Deep Blue
